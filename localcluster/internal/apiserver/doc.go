/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package apiserver runs the Kubernetes API server in the process: with RBAC, service account tokens, its default
// admission plugins, OwnerReferencesPermissionEnforcement and its default request limits, on the loopback interface
// only. It presents a client certificate to admission webhooks. Package pki creates its keys, and package
// serviceresolver finds the address of a Service.
package apiserver
