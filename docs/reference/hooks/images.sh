#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Denies Deployments whose images have neither a tag nor a digest.

set -o errexit -o nounset -o pipefail

if [[ "${1:-}" == --config ]]; then
  cat <<'CONFIG'
configVersion: v1
kubernetesValidating:
  - name: images.hooks.example.com
    namespace: {labelSelector: {matchLabels: {deployments: reviewed}}}
    rules:
      - {apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}
CONFIG
  exit
fi

source "${CRUD_SH}"

crud::context --json '[.[0].review.request.object.spec.template.spec.containers[].image | select(test("[:@]") | not)]
  | if . == [] then {allowed: true} else {allowed: false, message: "add a tag to \(join(", "))"} end' >"${ADMISSION_RESPONSE_PATH}"
