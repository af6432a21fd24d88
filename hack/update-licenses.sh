#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Writes third_party/: the licences of everything that is linked into the programs below cmd/. An argument names another
# folder to write to, by its absolute path. It runs from any working directory.

set -o errexit -o nounset -o pipefail

if [[ $# -gt 0 && "$1" != /* ]]; then
  echo "licenses: the folder to write to must be an absolute path, not $1" >&2
  exit 2
fi
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
readonly output="${1:-${PWD}/third_party}"

# The programs are looked at as images are built: no flags or workspace of the caller's, no C.
export GOWORK=off GOFLAGS='' CGO_ENABLED=0

echo "licenses: ${output##*/}" >&2
go -C hack/tools/licenses run . --root ../../.. --output "${output}" ./cmd/...
