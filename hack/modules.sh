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

# The control plane and the operator's processes are compiled with these flags. The go command keeps what it compiled apart by flags, so that
# vet, lint and tests, too, compile each package once only if they use the same ones.
GOFLAGS="$(go env GOFLAGS) $(paste -sd' ' hack/goflags)"
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

# test_programs lists the programs of the root module that only tests build. The go command leaves testdata out of ./...
test_programs() {
  local folder
  for folder in $(sources 'test/*/testdata/*/main.go' | xargs -r -n 1 dirname); do
    if [[ ! -e "${folder}/go.mod" ]]; then
      echo "./${folder}"
    fi
  done
}
