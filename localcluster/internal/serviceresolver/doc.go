/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package serviceresolver tells the API server where a Service's port is served on this machine. Nothing routes cluster
// IPs here. Where Pods are run as processes, the answer is one of the Service's ready endpoints; else it stands in an
// annotation of the Service, written by whoever started the process that serves it. It checks nobody's health by itself.
package serviceresolver
