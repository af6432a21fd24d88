/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package testrand gives tests with random input a seed and a number of inputs. Each test logs both and takes them from the
// environment, so that what failed once can be looked at again:
//
//	MALLARD_TEST_SEED=1234 MALLARD_TEST_INPUTS=10000 go test ./pkg/... -run Random
//
// What the input looks like is not its job; each test makes its own.
package testrand
