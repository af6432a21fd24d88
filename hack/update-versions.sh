#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes localcluster/versions/*.mod, with which the control plane is built for other versions of Kubernetes: each is
# localcluster/go.mod with that version, and with the replacements that the version needs, tidied. Run it after a change
# to localcluster/go.mod. It runs from any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../localcluster"
export GOWORK=off GOFLAGS=''

# The minor versions other than the one that go.mod requires, each by a release of it.
readonly releases=(v1.34.4 v1.36.3)

usual="$(go list -m -f '{{.Version}}' k8s.io/kubernetes)"
readonly usual
# The modules of Kubernetes may be of a later patch version than k8s.io/kubernetes.
minor="${usual#v1.}"
readonly minor="${minor%.*}"

for release in "${releases[@]}"; do
  file="versions/${release%.*}.mod"
  staging="v0.${release#v1.}"
  gomod="$(go mod download -json "k8s.io/kubernetes@${release}" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')"
  {
    echo "// Made by hack/update-versions.sh. DO NOT EDIT."
    echo
    # What Kubernetes keeps in its own repository, it requires at v0.0.0.
    sed -e '/^replace (/,/^)/d' -e "s/^\(\tk8s\.io\/[a-z-]*\) v0\.${minor}\.[0-9]*/\1 ${staging}/" -e "s/ ${usual}\b/ ${release}/" go.mod
    echo "replace ("
    sed -n "s/^\t\(k8s\.io\/[a-z0-9-]*\) v0\.0\.0\( .*\)*$/\t\1 => \1 ${staging}/p" "${gomod}" | sort -u
    echo ")"
  } >"${file}"
  cp go.sum "${file%.mod}.sum"
  go mod tidy -modfile="${file}"
done
