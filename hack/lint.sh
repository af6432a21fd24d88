#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Lints every module with all linters of .golangci.yaml. Arguments are passed on, for example --fix. It runs from any working directory. The linters
# that make check and make verify run are in hack/verify.sh.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off CGO_ENABLED=0

# shellcheck source=hack/modules.sh
source hack/modules.sh

# golangci-lint is built from source once, which takes minutes; the go command caches it. Its own module keeps the
# dependencies of a hundred linters away from those of the generators.
echo "lint: building golangci-lint, unless it is cached" >&2
linter="$(go -C hack/tools/lint tool -n golangci-lint)"

failed=0
for module in "${code_modules[@]}"; do
  echo "lint: ${module}" >&2
  packages=(./...)
  if [[ "${module}" == . ]]; then
    mapfile -t -O 1 packages < <(test_programs)
  fi
  (cd -- "${module}" && "${linter}" run --allow-parallel-runners --config "${OLDPWD}/.golangci.yaml" "$@" "${packages[@]}") || failed=1
done
exit "${failed}"
