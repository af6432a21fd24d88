#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Lists the Go modules of this repository, for other scripts to source: all_modules, and code_modules, those that hold
# packages. Both are folders relative to the repository's root, which must be the working directory.

all_modules=()
code_modules=()
for module in $(git ls-files --cached --others --exclude-standard -- go.mod '*/go.mod' | xargs -n 1 dirname | sort); do
  all_modules+=("${module}")
  if [[ -n "$(git ls-files --cached --others --exclude-standard -- "${module}/*.go")" ]]; then
    code_modules+=("${module}")
  fi
done
readonly all_modules code_modules
unset module

# Images and the control plane are built without paths of the machine. The go command keeps what it compiled apart for builds with and
# without, so that vet, lint and tests, too, compile each package once only if they ask for the same.
export GOFLAGS="${GOFLAGS:+${GOFLAGS} }-trimpath"

# changed PATH... reports whether one of the paths, the scripts or the version of Go differ from the commit in the environment variable
# CHANGED_SINCE. Without the variable, and if the commit is not in the clone, everything counts as changed that exists.
changed() {
  [[ -e "$1" ]] || return 1
  [[ -z "${CHANGED_SINCE:-}" ]] || ! git diff --quiet "${CHANGED_SINCE}" -- "$@" ':(glob)hack/*.sh' .golangci.yaml Makefile go.mod 2>/dev/null
}
