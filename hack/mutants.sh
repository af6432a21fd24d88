#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Applies each fault of hack/mutants to a copy of the last commit, and requires that the test which its patch names fails. Without the faults
# the tests must pass. Arguments choose faults: the tiers test (make test finds them) and nightly, and names of patches such as
# 05-lost-tombstone. All by default. It runs from any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off CGO_ENABLED=0

# shellcheck source=hack/modules.sh
source hack/modules.sh

# The linters vet what is tested. The configuration and the documents are not among the inputs of a test as the go command sees them, so that
# an earlier result proves nothing.
export GOFLAGS="${GOFLAGS} -vet=off -count=1 -timeout=20m"
# Tests run make, which would use the variables of the make that runs this script.
unset MAKEFLAGS ARGS

# header FIELD PATCH prints a field of the header of a patch.
header() { sed -n "s/^$1: //p; /^diff --git /q" "$2"; }

patches=()
for patch in hack/mutants/*.patch; do
  name="$(basename "${patch}" .patch)"
  if (($# == 0)) || [[ " $* " == *" ${name} "* || " $* " == *" $(header Tier "${patch}") "* ]]; then
    patches+=("${patch}")
  fi
done
if ((${#patches[@]} == 0)); then
  echo "mutants: no patch of hack/mutants has one of these names or tiers: $*" >&2
  exit 2
fi

mkdir -p .cache
scratch="$(mktemp -d "${PWD}/.cache/mutants.XXXXXX")"
readonly scratch copy="${scratch}/copy" log="${scratch}/log"
mkdir "${scratch}/tmp"

# kill_left ends the processes that a fault has left behind. They are recognized by paths of the folder, which only Linux shows here.
kill_left() {
  local file id
  for file in /proc/[0-9]*/{cmdline,environ}; do
    if grep -qsF -- "${scratch}/" "${file}"; then
      id="${file#/proc/}"
      kill -KILL "${id%%/*}" 2>/dev/null || true
    fi
  done
}

clean_up() {
  kill_left
  git worktree remove --force "${copy}" 2>/dev/null || true
  rm -rf -- "${scratch}"
}
trap clean_up EXIT
git worktree add --quiet --detach "${copy}" HEAD

# run COMMAND runs a command in the copy, with its output in the log.
run() { (cd -- "${copy}" && TMPDIR="${scratch}/tmp" bash -c "$1") >"${log}" 2>&1; }

# test_of COMMAND prints the name of its test.
test_of() { sed -E "s/.* -run '\^(Test[A-Za-z0-9_]+)\\$.*/\1/" <<<"$1"; }

failed=0

# The tests of a package run together.
declare -A expressions=() tests=()
for patch in "${patches[@]}"; do
  command="$(header 'Found by' "${patch}")"
  package="${command%% -run *}" expression="${command##* -run }"
  if [[ "|${expressions[${package}]:-}|" != *"|${expression//\'/}|"* ]]; then
    expressions["${package}"]="${expressions[${package}]:+${expressions[${package}]}|}${expression//\'/}"
    tests["${package}"]+=" $(test_of "${command}")"
  fi
done
for package in "${!expressions[@]}"; do
  run "${package} -v -run '${expressions[${package}]}'" && status=0 || status=$?
  for test in ${tests[${package}]}; do
    if ! grep -q "^--- PASS: ${test} " "${log}"; then
      status=1
      echo "FAILED  without a fault: ${package} -run '^${test}\$'"
    fi
  done
  if ((status)); then
    failed=1
    tail -n 40 "${log}" | sed 's/^/    /'
  fi
done

declare -A found=() total=()
for patch in "${patches[@]}"; do
  name="$(basename "${patch}" .patch)"
  tier="$(header Tier "${patch}")" command="$(header 'Found by' "${patch}")"
  test="$(test_of "${command}")"
  total["${tier}"]=$((${total[${tier}]:-0} + 1))
  if ! git -C "${copy}" apply "${PWD}/${patch}"; then
    failed=1
    printf 'MISSED  %-28s (%s): the patch does not apply\n' "${name}" "${tier}"
    continue
  fi
  run "${command}" && status=0 || status=$?
  kill_left
  git -C "${copy}" apply --reverse "${PWD}/${patch}"
  # A fault that does not compile, or ends the program of the tests, is not found by a test.
  if ((status)) && grep -q "^--- FAIL: ${test} " "${log}"; then
    found["${tier}"]=$((${found[${tier}]:-0} + 1))
    printf 'found   %-28s (%s) by %s\n' "${name}" "${tier}" "${test}"
  else
    failed=1
    printf 'MISSED  %-28s (%s) by %s\n' "${name}" "${tier}" "${command}"
    tail -n 20 "${log}" | sed 's/^/    /'
  fi
done

for tier in $(printf '%s\n' "${!total[@]}" | sort -r); do
  printf '%s: %d of %d found\n' "${tier}" "${found[${tier}]:-0}" "${total[${tier}]}"
done
exit "${failed}"
