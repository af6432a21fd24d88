#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Lists the manifests of config/, and of each overlay that only adds manifests, in the Kustomization of the folder, after its bases. The argument is the folder
# of another checkout. It runs from any working directory.

set -o errexit -o nounset -o pipefail

export LC_ALL=C # the order of the names

cd -- "${1:-$(dirname -- "${BASH_SOURCE[0]}")/..}"

for folder in config kustomize/overlays/*; do
  if [[ -f "${folder}/Kustomization" ]]; then
    {
      sed '/^  - [^.]/d' "${folder}/Kustomization"
      (cd -- "${folder}" && printf '  - %s\n' *.yaml)
    } > "${folder}/Kustomization.new"
    mv -- "${folder}/Kustomization.new" "${folder}/Kustomization"
  fi
done
