#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs each fuzz test for the time of the environment variable FUZZ_TIME, by default 30s. The go command writes an input that fails into the folder
# testdata/fuzz of the package, so that each run of its tests tries it from then on. Arguments choose fuzz tests by name. It runs from any working
# directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off

# shellcheck source=hack/modules.sh
source hack/modules.sh

readonly time="${FUZZ_TIME:-30s}"
declare -A files=()
while IFS=: read -r file declaration; do
  name="${declaration#func }"
  files["${name%%(*}"]="${file}"
done < <(git grep '^func Fuzz' -- '*_test.go')

if (($# == 0)); then
  set -- "${!files[@]}"
fi
status=0
for name in "$@"; do
  file="${files[${name}]:?"there is no such fuzz test: ${name}"}"
  go -C "$(dirname -- "${file}")" test -vet=off -run '^$' -fuzz "^${name}\$" -fuzztime "${time}" . || status=1
done
exit "${status}"
