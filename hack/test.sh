#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every test of every module and ends with go test's lines of all of them. Arguments are flags for go test, for
# example -race or -v. TEST_TIMEOUT bounds one package. It runs from any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off

# shellcheck source=hack/modules.sh
source hack/modules.sh

readonly flags=(-timeout "${TEST_TIMEOUT:-20m}" "$@")

mkdir -p .cache
log="$(mktemp .cache/test.XXXXXX)"
readonly log
trap 'rm -f -- "${log}"' EXIT

failed=0
# run TITLE MODULE ARGUMENT... runs go test in the module's folder.
run() {
  local -r title="$1" module="$2"
  shift 2
  printf '\n== test: %s\n' "${title}"
  (module_environment "${module}" && go -C "${module}" test "${flags[@]}" "$@") 2>&1 | tee -a -- "${log}" || failed=1
}

run "the operator, without a cluster" . ./cmd/... ./pkg/...

# One package after the other, because most of these start a control plane, and some measure how long things take. What
# they start is not among their inputs as the go command sees them, so that an earlier result proves nothing.
go build ./...
run "the operator and its tools on the local control plane" . -p 1 -count 1 ./hack/... ./internal/... ./test/...

run "the local control plane itself" localcluster -p 1 -count 1 ./...
run "the generators" hack/tools ./...
run "the images of config/, and releases" hack/tools/ko -count 1 ./...
run "the licences of what is linked in" hack/tools/licenses ./...
run "the alerts of monitoring/" hack/tools/promcheck -count 1 ./...

printf '\n== test: what ran\n'
grep -E '^(ok|FAIL|panic:|--- FAIL)' -- "${log}" || true
exit "${failed}"
