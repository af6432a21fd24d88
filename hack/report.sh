#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Prints the report of hack/test.sh: the seconds of each package, the slowest tests, the CPU seconds by sort of work, and the tests that the tier
# leaves to the nightly one. It fails if more control planes were started than the tier may start. Arguments are the tier and the folder with what
# go test and localcluster/env/procgroup have recorded.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

readonly tier="$1" work="$2"
# make test starts the shared control plane, those of the suites in the table of test/doc.go, and those of the modules that are about one.
readonly most_control_planes=6

shopt -s nullglob
cat -- "${work}"/*.json </dev/null >"${work}/results"
cat -- "${work}"/*.actions </dev/null >"${work}/commands"

printf '\n== test: seconds by package\n'
sed -n 's/.*"Action":"\(pass\|fail\)","Package":"\([^"]*\)","Elapsed":\([0-9.]*\)}$/\3 \1 \2/p' "${work}/results" | sort -rn | awk 'NR <= 25'

printf '\n== test: the slowest tests\n'
sed -n 's/.*"Action":"\(pass\|fail\)","Package":"\([^"]*\)","Test":"\([^"]*\)","Elapsed":\([0-9.]*\)}$/\4 \2 \3/p' "${work}/results" |
  awk '$1 >= 2' | sort -rn | awk 'NR <= 15'

printf '\n== test: CPU seconds, and how often\n'
# The go command writes an action with its times as an indented JSON object.
{
  awk -F '[:, ]+' '
    /^\t\t"Mode"/ { mode = $2 } /^\t\t"CmdUser"/ { u = $2 } /^\t\t"CmdSys"/ { s = $2 }
    /^\t}/ { if (u + s > 0) printf "%.2f\t%s\n", (u + s) / 1e9, mode; mode = ""; u = s = 0 }
  ' "${work}/commands" | sed 's/"build"/compiler/; s/"link"/linker/; s/"\(.*\)"/\1/'
  # Programs that run others are left out, since the others are counted.
  grep -vE $'\t(go|gotestsum|make)(\t|$)' "${work}/programs" | sed 's/localcluster\tup/control planes/; s/localcluster\t.*/kubectl and others of localcluster/' || true
} | awk -F '\t' '{ sum[$2] += $1; n[$2]++ } END { for (name in sum) printf "%8.1f %6d  %s\n", sum[name], n[name], name }' | sort -rn | awk 'NR <= 40'

left="$(git grep -lz '^//go:build nightly' -- '*_test.go' | xargs -r -0 grep -Hc '^func Test.*testing\.T) {$' || true)"
if [[ "${tier}" == test && -n "${left}" ]]; then
  printf '\n== test: left to make test-nightly, in addition to the parts of hack/nightly.sh and nine of ten random inputs\n'
  sed 's|/[^/]*:|\t|' <<<"${left}" | awk -F '\t' '{ n[$1] += $2; all += $2 } END { for (folder in n) printf "%s %d, ", folder, n[folder]; print all " tests" }'
fi

started="$(grep -c $'\tlocalcluster\tup' "${work}/programs" || true)"
if [[ "${tier}" == test && "${started}" -gt "${most_control_planes}" ]]; then
  echo "test: ${started} control planes were started, the budget is ${most_control_planes}: share the one of all suites (test/doc.go)" >&2
  exit 1
fi
