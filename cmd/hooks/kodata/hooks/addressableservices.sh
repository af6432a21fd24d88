#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Creates an AddressableService of the same name for each Service with the label samples.knative.dev/addressable=true, unless there is one.
# It belongs to the Service, so that the garbage collector deletes it with the Service.

set -o errexit -o nounset -o pipefail

if [[ "${1:-}" == --config ]]; then
  cat <<'EOF'
configVersion: v1
kubernetes:
  - name: services
    apiVersion: v1
    kind: Service
    labelSelector: {matchLabels: {samples.knative.dev/addressable: "true"}}
    executeHookOnEvent: [Added]
EOF
  exit
fi

source "${CRUD_SH}"

crud::objects | jq -c '{
  apiVersion: "samples.knative.dev/v1",
  kind: "AddressableService",
  metadata: {
    namespace: .metadata.namespace,
    name: .metadata.name,
    labels: {"samples.knative.dev/addressable": "true"},
    ownerReferences: [{apiVersion: "v1", kind: "Service", name: .metadata.name, uid: .metadata.uid}]
  },
  spec: {ref: {apiVersion: "v1", kind: "Service", name: .metadata.name}}
}' | while read -r object; do
  crud::create_if_not_exists <<<"${object}"
done
