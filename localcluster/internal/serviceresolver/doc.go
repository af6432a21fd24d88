/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package serviceresolver tells the API server where a Service's port is served on this machine. Nothing routes cluster
// IPs here, so the answer stands in an annotation of the Service, written by whoever started the process that serves it.
// It does not look at endpoints or Pods, and checks nobody's health.
package serviceresolver
