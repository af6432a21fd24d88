#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Records the user who creates a Deployment in an annotation.

set -o errexit -o nounset -o pipefail

if [[ "${1:-}" == --config ]]; then
  cat <<'CONFIG'
configVersion: v1
kubernetesMutating:
  - name: creators.hooks.example.com
    namespace: {labelSelector: {matchLabels: {deployments: reviewed}}}
    failurePolicy: Ignore
    rules:
      - {apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}
CONFIG
  exit
fi

source "${CRUD_SH}"

crud::context --json '.[0].review.request
  | [{op: "add", path: "/metadata/annotations", value: (.object.metadata.annotations + {"example.com/creator": .userInfo.username})}]
  | {allowed: true, patch: (tojson | @base64)}' >"${ADMISSION_RESPONSE_PATH}"
