#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the tests of a tier and ends with a report: the packages, the slowest tests, CPU seconds by sort of work, and the tests of the next tier.
# All parts run even when one fails. Arguments are flags for go test, for example -race or -v. It runs from any working directory. Environment
# variables:
#
#   TIER          test, the tests that must pass before a change lands, or nightly, all tests; test by default
#   PARTS         the parts to run: units, suites, modules, and with TIER=nightly those of hack/nightly.sh; all of the tier by default
#   TEST_TIMEOUT  how long one package may take

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off

# shellcheck source=hack/modules.sh
source hack/modules.sh

readonly tier="${TIER:-test}"
known='units suites modules'
# make verify vets what is tested.
flags=(-timeout "${TEST_TIMEOUT:-30m}" -vet=off "$@")
case "${tier}" in
  # Tests with random input try a tenth of the inputs.
  test) flags+=(-short) ;;
  nightly)
    flags+=(-tags nightly -count 1)
    # shellcheck source=hack/nightly.sh
    source hack/nightly.sh
    known="${known} ${nightly_parts}"
    ;;
  *)
    echo "test: environment variable TIER: must be test or nightly, not ${tier}" >&2
    exit 2
    ;;
esac
readonly known flags
readonly parts="${PARTS:-${known}}"
# Tests run make, which would use the variables of the make that runs this script.
unset MAKEFLAGS ARGS PARTS TIER
for part in ${parts}; do
  if [[ " ${known} " != *" ${part} "* ]]; then
    echo "test: environment variable PARTS: there is no part ${part} in tier ${tier}; there are: ${known}" >&2
    exit 2
  fi
done

mkdir -p .cache
work="$(mktemp -d "${PWD}/.cache/test.XXXXXX")"
readonly work
trap 'rm -rf -- "${work}"' EXIT
# Nothing that runs here shares the environment of another program.
unset LOCALCLUSTER_KUBECONFIG
export LOCALCLUSTER_REPORT="${work}/programs"
touch "${LOCALCLUSTER_REPORT}"

gotestsum="$(go -C hack/tools/lint tool -n gotestsum)"
readonly gotestsum
failed=()
runs=0
# environment is the command that starts the environment in which run runs go test, while suites share one.
environment=()

# run TITLE MODULE ARGUMENT... runs go test in the module's folder. The tests of a module that a fork has removed are left out.
run() {
  local -r title="$1" module="$2" started="${SECONDS}"
  local n
  shift 2
  if [[ ! -e "${module}/go.mod" ]]; then
    return
  fi
  runs=$((runs + 1))
  n="$(printf %03d "${runs}")"
  printf '\n== test: %s\n' "${title}"
  "${environment[@]}" "${gotestsum}" --format pkgname-and-test-fails --format-hide-empty-pkg \
    --jsonfile-timing-events "${work}/${n}.json" --raw-command -- \
    go -C "${module}" test -json -debug-actiongraph "${work}/${n}.actions" "${flags[@]}" "$@" || failed+=("${title}")
  echo "-- test: ${title}: $((SECONDS - started)) s"
}

# units FLAG... runs the operator's unit tests.
units() {
  local packages
  packages="$(go list ./... | grep -v /test/)"
  # shellcheck disable=SC2086 # a list
  run "the operator, without a cluster" . "$@" ${packages}
}

# build_environment builds the program that starts an environment.
build_environment() { go build -o "${work}/run" github.com/mallard-dev/mallard/localcluster/env/cmd/run; }

# suites FLAG... runs the suites. Some of them need all versions, or hooks.
suites() {
  local packages longest='/test/(availability|docs|fork|kind|operations|tenants)$'
  local -a environment=("${work}/run" --versions=all --config=config --config=kustomize/overlays/hooks --)
  build_environment || { failed+=("suites"); return; }
  # make verify tests the repository. A suite waits for its control plane about half of the time, so that three keep two processors busy. The
  # longest are first, so that none of them runs alone at the end. The operator is not among the inputs that the go command sees, so that an
  # earlier result proves nothing.
  packages="$(go list -tags "${tier}" ./test/... | grep -v /test/repository)"
  packages="$(grep -E "${longest}" <<<"${packages}" || true) $(grep -vE "${longest}" <<<"${packages}")"
  # shellcheck disable=SC2086 # a list
  run "the operator on a shared control plane" . -p 3 -count 1 "$@" ${packages}
}

modules() {
  local module
  for module in "${code_modules[@]}"; do
    case "${module}" in
      conversion/zoo | hack/tools/ko | website | .) ;; # nightly
      conversion/cmd/assign-gen) run "module ${module}" "${module}" -skip '^TestRun_ManyRandomTypes_' ./... ;; # part fuzz of the nightly tier
      localcluster) run "module ${module}" "${module}" -p 1 ./... ;; # its tests share the processors with their control planes
      *) run "module ${module}" "${module}" ./... ;;
    esac
  done
}

for part in ${parts}; do
  "${part}"
done
hack/report.sh "${tier}" "${work}" || failed+=("the budgets")
left=''
for part in ${known}; do
  if [[ " ${parts} " != *" ${part} "* ]]; then
    left="${left} ${part}"
  fi
done
if [[ -n "${left}" ]]; then
  printf '\n== test: left to the other parts of this tier:%s\n' "${left}"
fi

if ((${#failed[@]})); then
  printf '\n== test: failed:%s\n' "$(printf ' %s;' "${failed[@]}")"
  # The first failures again: CI systems keep the end of a long log.
  sed -n 's/.*"Action":"fail","Package":"\([^"]*\)","Test":"\([^"]*\)".*/failed: \1 \2/p' "${work}/results" | awk 'NR <= 40'
  exit 1
fi
