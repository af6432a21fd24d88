#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Lists the Go modules of this repository, for other scripts to source: all_modules, and code_modules, those that hold
# packages of ours. Both are folders relative to the repository's root. A test holds the list and the go.mod files
# together.

# shellcheck disable=SC2034 # used by those who source this file
readonly all_modules=(. conversion conversion/example localcluster localcluster/env hack/tools hack/tools/ko hack/tools/lint)
readonly code_modules=(. conversion conversion/example localcluster localcluster/env hack/tools hack/tools/ko)

# module_environment FOLDER sets the environment in which the go command is to work on a module. The control plane is
# built without paths of the machine, and the go command keeps what it compiled apart for builds with and without: unless
# vet, lint and tests ask for the same, all of Kubernetes is compiled twice.
module_environment() {
  if [[ "$1" == localcluster ]]; then
    export GOFLAGS="${GOFLAGS:-} -trimpath"
  fi
}
