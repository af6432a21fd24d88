/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package apiserver runs the Kubernetes API server in the process: with RBAC, service account tokens, its default
// admission plugins and its default request limits, on the loopback interface only. It makes no keys (package pki),
// and does not decide where a Service is found (package serviceresolver).
package apiserver
