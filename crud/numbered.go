/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import "fmt"

// NumberedError is the error of one operation of a plan. RunPlan and Preflight return several joined.
type NumberedError struct {
	// Number is that of the operation in the plan, counted from 1.
	Number int
	Err    error
}

func numbered(i int, err error) error { return &NumberedError{i + 1, err} }

// Error implements error.
func (n *NumberedError) Error() string { return fmt.Sprintf("operation %d: %s", n.Number, n.Err) }

// Unwrap returns the error of the operation.
func (n *NumberedError) Unwrap() error { return n.Err }
