#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Lists the manifests of config/, or of another folder, in its Kustomization. It runs from any working directory.

set -o errexit -o nounset -o pipefail

export LC_ALL=C # the order of the names

cd -- "${1:-$(dirname -- "${BASH_SOURCE[0]}")/../config}"

{
  sed '/^resources:/q' Kustomization
  printf '  - %s\n' *.yaml
} > Kustomization.new
mv Kustomization.new Kustomization
