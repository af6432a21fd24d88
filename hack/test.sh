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

# The linters vet what is tested. To do it once more the go command looks at all of Kubernetes first, which takes minutes.
readonly flags=(-timeout "${TEST_TIMEOUT:-20m}" -vet=off "$@")

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

run "the operator and its generators, without a cluster" . ./cmd/... ./codegen/... ./pkg/...

# Most suites start a control plane and then wait, for it or for what is to happen there, so that two beside each other take
# hardly longer than one. These look at the time that something takes, and run alone.
readonly timed='/test/(availability|costs|operations|pods|process)$'
suites=()
alone=()
while IFS= read -r suite; do
  if [[ "${suite}" =~ ${timed} ]]; then
    alone+=("${suite}")
  else
    suites+=("${suite}")
  fi
done < <(go list ./hack/... ./internal/... ./test/...)

# What suites start is not among their inputs as the go command sees them, so that an earlier result proves nothing.
go build ./...
run "the operator and its tools on the local control plane" . -p 2 -count 1 "${suites[@]}"
run "how long things take on the local control plane" . -p 1 -count 1 "${alone[@]}"

run "the local control plane itself" localcluster -p 1 -count 1 ./...
run "the tools of this repository" hack/tools ./...
run "the images of config/, and releases" hack/tools/ko -count 1 ./...
run "the licences of what is linked in" hack/tools/licenses ./...
run "the alerts of monitoring/" hack/tools/promcheck -count 1 ./...

printf '\n== test: what ran\n'
grep -E '^(ok|FAIL|panic:|--- FAIL)' -- "${log}" || true
exit "${failed}"
