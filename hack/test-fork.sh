#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes a fork of the last commit, with all of its kinds and products, and runs the fork's checks and tests. Arguments are variables of make
# fork that replace those below. It runs from any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

scratch="$(mktemp -d "${TMPDIR:-/tmp}/test-fork.XXXXXX")"
readonly scratch
trap 'rm -rf -- "${scratch}"' EXIT

make fork MODULE=git.example.com/acme/teams/green-pond2 GROUP=green-pond.acme.io NAME=Green-Pond2 NAMESPACE=green-system TO="${scratch}/fork" "$@"
cd -- "${scratch}/fork"
.ci/run
make test-nightly PARTS='lint alerts units suites'
