#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails when generated code is not what hack/update-codegen.sh makes of the sources, and shows the difference: lines that
# start with "-" are in the checkout, lines that start with "+" are what they should be. Everything is generated in a
# copy; the checkout is left alone. It runs from any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

# The generators write files in these folders, and also read the others.
paths=(go.mod go.sum hack pkg config docs)
others=()
for path in conversion crud kustomize; do
  if [[ -d ${path} ]]; then
    paths+=("${path}")
  fi
done
for path in cmd confidential observe optional post-install; do
  if [[ -d ${path} ]]; then
    others+=("${path}")
  fi
done
readonly paths others

copy="$(mktemp -d "${TMPDIR:-/tmp}/verify-codegen.XXXXXX")"
readonly copy
trap 'rm -rf -- "${copy}"' EXIT

for path in "${paths[@]}" "${others[@]}"; do
  cp -R -- "${path}" "${copy}/"
done
# The tools are linked once.
mkdir -p .cache/tools "${copy}/.cache"
ln -s "${PWD}/.cache/tools" "${copy}/.cache/tools"
"${copy}/hack/update-codegen.sh"

stale=0
for path in "${paths[@]}"; do
  diff -ruN -- "${path}" "${copy}/${path}" || stale=1
done
if ((stale)); then
  echo "Generated code is stale, or was edited by hand. Run make generate and commit what it changes." >&2
  exit 1
fi
