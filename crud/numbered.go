/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import "fmt"

// Errors returns the errors that RunPlan or Preflight joined: none for nil.
func Errors(err error) []error {
	switch joined := err.(type) { //nolint:errorlint // an error that was wrapped after it was joined is one
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		return joined.Unwrap()
	}
	return []error{err}
}

// NumberedError is the error of one operation of a plan. RunPlan and Preflight return several joined: see Errors.
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
