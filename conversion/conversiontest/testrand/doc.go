/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package testrand gives tests with random input a seed and a number of inputs. Each test logs both and takes them from the
// environment, so that a failure can be repeated:
//
//	MALLARD_TEST_SEED=1234 MALLARD_TEST_INPUTS=10000 go test ./pkg/... -run Random
//
// Each test makes its own input.
package testrand
