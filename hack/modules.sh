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
# without, so that vet, lint and tests, too, compile each package once only if they use the same flags.
GOFLAGS="$(go env GOFLAGS) -trimpath"
export GOFLAGS

# The compiler, the linker and the linters end soon. Collecting less garbage saves a fifth of the compiler's CPU time. Tests inherit it; those
# that measure memory collect garbage first, or set their own value.
export GOGC="${GOGC:-400}"

# sources PATHSPEC... lists the files that git knows or would add. Some that git knows may be deleted in the checkout.
sources() {
  git ls-files --cached --others --exclude-standard -- "$@" | sort -u | while IFS= read -r file; do
    if [[ -f "${file}" ]]; then
      echo "${file}"
    fi
  done
}

# once FOLDERS COMMAND... runs a command that tests the files of the folders, and returns its status. What has succeeded on this machine
# before, with the same files, version of Go, and scripts that test and lint, is not run again, as with the results that the go command
# caches; those do not outlast a fresh clone. A first folder without code, as in a fork that removed the module, has nothing to test.
once() {
  local -r folders="$1"
  local files inputs passed
  shift
  # shellcheck disable=SC2086 # a list
  files="$(sources ${folders} hack/{lint,modules,test}.sh .golangci.yaml go.mod)"
  inputs="$(echo "$* ${flags[*]:-} $(go version)"; echo "${files}"; git hash-object --stdin-paths <<<"${files}")"
  passed="${XDG_CACHE_HOME:-${HOME}/.cache}/mallard/passed/$(git hash-object --stdin <<<"${inputs}")"
  if [[ -z "$(sources "${folders%% *}/*.go")" ]]; then
    return 0
  elif [[ -e "${passed}" && " ${flags[*]:-} " != *' -count '* ]]; then
    printf '\n== unchanged since it passed: %s\n' "$*"
    return 0
  fi
  "$@" || return
  mkdir -p "${passed%/*}"
  touch "${passed}"
}

# repository_tests tests the files of the repository, for make verify and make test, of which CI runs both.
repository_tests() { once . go test -vet=off -count=1 ./test/repository/...; }
