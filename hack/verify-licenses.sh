#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails when third_party/ is not what hack/update-licenses.sh writes, and shows the difference. The checkout stays as it is.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

scratch="$(mktemp -d "${TMPDIR:-/tmp}/verify-licenses.XXXXXX")"
readonly scratch
trap 'rm -rf -- "${scratch}"' EXIT

hack/update-licenses.sh "${scratch}/third_party"
if ! diff -ruN -- third_party "${scratch}/third_party"; then
  echo "third_party/ is stale, or was edited by hand. Run make generate and commit what it changes." >&2
  exit 1
fi
