#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every test of every module and ends with go test's lines of all of them. Arguments are flags for go test, for
# example -race or -v. It runs from any working directory. Environment variables:
#
#   PARTS         the parts to run, all by default: units, suites, modules
#   TEST_TIMEOUT  how long one package may take
#
# Modules other than the operator are not tested again until they change. -count 1 tests them in any case.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off

# shellcheck source=hack/modules.sh
source hack/modules.sh

# The linters vet what is tested. To vet again, the go command would load all of Kubernetes, which takes minutes.
readonly flags=(-timeout "${TEST_TIMEOUT:-80m}" -vet=off "$@")

readonly known='units suites modules'
readonly parts="${PARTS:-${known}}"
# Tests run make, which would use the variables of the make that runs this script.
unset MAKEFLAGS ARGS PARTS
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
  go -C "${module}" test "${flags[@]}" "$@" 2>&1 | tee -a -- "${log}"
}

units() {
  local packages
  packages="$(go list ./... | grep -v /test/)"
  # shellcheck disable=SC2086 # a list
  run "the operator, without a cluster" . ${packages} || failed=1
}

suites() {
  go tool localcluster build >/dev/null || failed=1
  # What suites start is not among their inputs as the go command sees them, so that an earlier result proves nothing. A suite
  # waits for its control plane about half of the time, so that three keep two processors busy. The longest are first, so that
  # none of them runs alone at the end.
  local packages longest='/test/(availability|docs|fork|kind|operations|tenants)$'
  packages="$(go list ./test/... | grep -v /test/repository)"
  packages="$(grep -E "${longest}" <<<"${packages}" || true) $(grep -vE "${longest}" <<<"${packages}")"
  # shellcheck disable=SC2086 # a list
  run "the operator on the local control plane" . -p 3 -count 1 ${packages} || failed=1
  repository_tests 2>&1 | tee -a -- "${log}" || failed=1
}

# line KUBERNETES GO tests the library of conversions and generated code with other versions than those of go.mod.
line() (
  mod="$(mktemp -d "${PWD}/.cache/line.XXXXXX")/go.mod" || exit
  trap 'rm -r -- "${mod%/*}"' EXIT
  export GOTOOLCHAIN="$2"
  cp conversion/fixtures/go.{mod,sum} "${mod%/*}" &&
    go -C conversion/fixtures get -modfile="${mod}" "k8s.io/apimachinery@$1" "k8s.io/api@$1" &&
    run "conversions with Kubernetes $1 and $2" conversion/fixtures -modfile="${mod}" -short \
      ./keyed/... ./names/... ./units/... github.com/mallard-dev/mallard/conversion{,/conversiontest}
)

modules() {
  local localcluster='' module
  # go.mod has the first of the three latest lines of Kubernetes, and of the two of Go.
  once conversion line v0.36.6 go1.26.8 || failed=1
  once conversion line v0.37.2 go1.27.3 || failed=1
  for module in "${code_modules[@]}"; do
    if [[ "${module}" == conversion* ]]; then
      # Tests of the generator compare these pages.
      once "conversion docs/tutorial/second-version.md docs/reference/assign-gen.md docs/reference/conversion-zoo.md" run "conversions: ${module}" "${module}" ./... || failed=1
    fi
  done
  once localcluster run "the local environment" localcluster/env ./... || failed=1
  # This one mostly waits, while those after it mostly compile.
  once localcluster run "the local control plane itself" localcluster -p 1 -count 1 ./... >"${log}.meanwhile" 2>&1 &
  localcluster=$!
  once "hack pkg/apis config" run "the tools of this repository" hack/tools ./... || failed=1
  # A release contains most of the repository.
  once "hack/tools/ko ." run "the images of config/, and releases" hack/tools/ko -count 1 ./... || failed=1
  # The pages of the website are the documents.
  once "website docs *.md" run "the website" website ./... || failed=1
  wait "${localcluster}" || failed=1
  cat -- "${log}.meanwhile"
}

for part in ${parts}; do
  "${part}"
done

printf '\n== test: what ran\n'
grep -E '^(ok|FAIL|panic:|--- FAIL)' -- "${log}" || true
if ((failed)); then
  # The messages of the first failures again: CI systems keep the end of a long log.
  printf '\n== test: what failed\n'
  grep -E -A 12 '^ *(--- FAIL|panic:)' -- "${log}" | cut -c 1-240 | head -n 80 || true
fi
exit "${failed}"
