/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package operatorconfig says which config maps the operator's processes read, and what
// parses each. The webhook refuses by it what a process could not read, and a process
// that starts names by it what is wrong.
//
// What the keys mean is not its job: package pkg/apis/config knows those of
// config-addressable, knative.dev/pkg those of the others.
package operatorconfig
