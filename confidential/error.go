/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package confidential

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Error is an error whose text has no confidential value, however it is printed. errors.Is and errors.As find what it stands for, but instead of an
// answer of the API server a status with the text of the Error. There is no Unwrap, so that the cause is not printed by mistake.
type Error struct {
	text   string
	status *apierrors.StatusError
	cause  error
}

// Error implements error.
func (e *Error) Error() string { return e.text }

// Format implements fmt.Formatter: %#v would print the cause.
func (e *Error) Format(f fmt.State, verb rune) { fmt.Fprintf(f, fmt.FormatString(f, verb), e.text) }

// Is finds the cause for errors.Is.
func (e *Error) Is(target error) bool { return errors.Is(e.cause, target) }

// As finds the status, or else the cause, for errors.As.
func (e *Error) As(target any) bool {
	return e.status != nil && errors.As(e.status, target) || errors.As(e.cause, target)
}
