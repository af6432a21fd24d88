/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package serviceresolver resolves a Service's port to an address on this machine, for the API server. Nothing routes cluster
// IPs here. Where Pods are run as processes, the answer is one of the Service's ready endpoints; else it is in an annotation of the Service, written
// by the program that started the process that serves it. It probes no process itself.
package serviceresolver
