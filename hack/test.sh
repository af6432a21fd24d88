#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every test of every module and ends with go test's lines of all of them. Arguments are flags for go test, for
# example -race or -v. It runs from any working directory. Environment variables:
#
#   PARTS          the parts to run, all by default: units, suites, modules
#   TEST_TIMEOUT   how long one package may take
#   CHANGED_SINCE  a commit; of the modules beside the operator only those are tested that differ from it

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off

# shellcheck source=hack/modules.sh
source hack/modules.sh

# The linters vet what is tested. To do it once more the go command looks at all of Kubernetes first, which takes minutes.
readonly flags=(-timeout "${TEST_TIMEOUT:-20m}" -vet=off "$@")

readonly known='units suites modules'
readonly parts="${PARTS:-${known}}"
for part in ${parts}; do
  if [[ " ${known} " != *" ${part} "* ]]; then
    echo "test: environment variable PARTS: there is no part ${part}; there are: ${known}" >&2
    exit 2
  fi
done

mkdir -p .cache
log="$(mktemp .cache/test.XXXXXX)"
readonly log
trap 'rm -f -- "${log}" "${log}.meanwhile"' EXIT

failed=0
# run TITLE MODULE ARGUMENT... runs go test in the module's folder.
run() {
  local -r title="$1" module="$2"
  shift 2
  printf '\n== test: %s\n' "${title}"
  go -C "${module}" test "${flags[@]}" "$@" 2>&1 | tee -a -- "${log}" || failed=1
}

units() {
  run "the operator, without a cluster" . ./cmd/... ./pkg/... ./runtime/...
}

suites() {
  go tool localcluster build >/dev/null || failed=1
  # What suites start is not among their inputs as the go command sees them, so that an earlier result proves nothing. A suite
  # waits for its control plane about half of the time, so that three keep two processors busy.
  run "the operator on the local control plane" . -p 3 -count 1 ./test/...
}

modules() {
  if changed conversion; then
    run "conversions: the library and its generator" conversion ./...
    run "the conversions of docs/assign-gen.md, in a project of their own" conversion/example ./...
  fi
  if changed localcluster; then
    run "the local environment" localcluster/env ./...
    # This one mostly waits, while those after it mostly compile.
    (failed=0; run "the local control plane itself" localcluster -p 1 -count 1 ./...; exit "${failed}") >"${log}.meanwhile" 2>&1 &
  fi
  if changed hack pkg/apis config; then
    run "the tools of this repository" hack/tools ./...
  fi
  if [[ " ${code_modules[*]} " == *' hack/tools/ko '* ]]; then
    run "the images of config/, and releases" hack/tools/ko -count 1 ./...
  fi
  if [[ -n "$(jobs -p)" ]]; then
    wait "$(jobs -p)" || failed=1
    cat -- "${log}.meanwhile"
  fi
}

for part in ${parts}; do
  "${part}"
done

printf '\n== test: what ran\n'
grep -E '^(ok|FAIL|panic:|--- FAIL)' -- "${log}" || true
exit "${failed}"
