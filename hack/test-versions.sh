#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the suites on the local control plane at other versions of Kubernetes than the one that it has by itself, all of them even if one
# fails, and prints at the end what failed. Arguments are versions, such as 1.34; without any it is every version in localcluster/versions.
# The first build for a version takes minutes. It runs from any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off CGO_ENABLED=0

# shellcheck source=hack/modules.sh
source hack/modules.sh

versions=("$@")
if [[ ${#versions[@]} -eq 0 ]]; then
  for file in localcluster/versions/v*.mod; do
    file="${file##*/v}"
    versions+=("${file%.mod}")
  done
fi

# make verify vets what is tested.
readonly flags=(-timeout "${TEST_TIMEOUT:-60m}" -vet=off)
failed=()
for version in "${versions[@]}"; do
  export LOCALCLUSTER_KUBERNETES="${version}"
  printf '\n== test: Kubernetes %s\n' "${version}"
  go tool localcluster build
  # These four test the repository, which is the same at every version.
  mapfile -t suites < <(go list -tags nightly ./test/... | grep -vE '/test/(fork|generated|kind|repository)$')
  go test "${flags[@]}" -tags nightly -p 3 -count 1 "${suites[@]}" ||
    failed+=("${version}: the operator")
  go -C localcluster test -modfile="versions/v${version}.mod" -tags "kubernetes${version},nightly" "${flags[@]}" -p 1 -count 1 ./... ||
    failed+=("${version}: the local control plane")
done

if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'failed at Kubernetes %s\n' "${failed[@]}" >&2
  exit 1
fi
