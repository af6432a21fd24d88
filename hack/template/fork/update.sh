#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Requires the modules of the template at VERSION, by default the latest one, in each module of this repository, and no longer those of a checkout.
# It runs from any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off GOFLAGS=-trimpath

# shellcheck source=hack/modules.sh
source hack/modules.sh

readonly template=github.com/mallard-dev/mallard
for module in "${all_modules[@]}"; do
  mapfile -t replaced < <(sed -nE "s|^(replace)?[[:space:]]+(${template}[^ ]*) => .*|-dropreplace=\2|p" "${module}/go.mod")
  mapfile -t required < <(sed -nE "s|^(require)?[[:space:]]+(${template}[^ ]*) v.*|\2@${VERSION:-latest}|p" "${module}/go.mod")
  if ((${#required[@]} == 0)); then
    continue
  fi
  echo "update: ${module}: ${required[*]}" >&2
  # Dependencies between the modules have the same version.
  go -C "${module}" mod edit "${replaced[@]}" "${required[@]/#/-require=}"
  go -C "${module}" mod tidy
done
hack/update-licenses.sh
