#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the suites on the local control plane, for other scripts to source.

# Most suites start a control plane and then wait, for it or for what is to happen there, so that two beside each other take
# hardly longer than one. These look at the time that something takes, and run alone.
readonly timed_suites='/test/(availability|costs|operations|pods|process)$'

# run_suites COMMAND... runs the command, which is go test with its flags, with the packages on standard input: those that
# may run beside each other, and then the others. It fails if one of the two does.
run_suites() {
  local package beside=() alone=() status=0
  while IFS= read -r package; do
    if [[ "${package}" =~ ${timed_suites} ]]; then
      alone+=("${package}")
    else
      beside+=("${package}")
    fi
  done
  # What suites start is not among their inputs as the go command sees them, so that an earlier result proves nothing.
  if ((${#beside[@]})); then
    "$@" -p 2 -count 1 "${beside[@]}" </dev/null || status=1
  fi
  if ((${#alone[@]})); then
    "$@" -p 1 -count 1 "${alone[@]}" </dev/null || status=1
  fi
  return "${status}"
}
