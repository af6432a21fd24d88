#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Lists the Go modules of this repository, for other scripts to source: all_modules, and code_modules, those that hold
# packages of ours. Both are folders relative to the repository's root. A test holds the list and the go.mod files
# together.

# shellcheck disable=SC2034 # used by those who source this file
readonly all_modules=(. conversion conversion/example localcluster localcluster/env hack/tools hack/tools/ko hack/tools/lint)
readonly code_modules=(. conversion conversion/example localcluster localcluster/env hack/tools hack/tools/ko)

# Images and the control plane are built without paths of the machine. The go command keeps what it compiled apart for builds with and
# without, so that vet, lint and tests, too, compile each package once only if they ask for the same.
export GOFLAGS="${GOFLAGS:+${GOFLAGS} }-trimpath"

# changed PATH... reports whether one of the paths, the scripts or the version of Go differ from the commit in the environment variable
# CHANGED_SINCE. Without the variable, and if the commit is not in the clone, everything counts as changed.
changed() {
  [[ -z "${CHANGED_SINCE:-}" ]] || ! git diff --quiet "${CHANGED_SINCE}" -- "$@" ':(glob)hack/*.sh' .golangci.yaml Makefile go.mod 2>/dev/null
}
