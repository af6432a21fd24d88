/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"strings"
	"testing"
)

// Kubectl runs kubectl as the administrator and returns what it prints on standard output.
func (e *Env) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	out, err := e.environment.Kubectl(t.Context(), nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TryKubectl is Kubectl with input, for a command that may fail: its error carries what kubectl prints on standard error.
func (e *Env) TryKubectl(t testing.TB, input string, args ...string) (string, error) {
	t.Helper()
	return e.environment.Kubectl(t.Context(), strings.NewReader(input), args...)
}

// Ko runs ko with the control plane's registry, from the folder of a checkout, and returns what it printed. The
// environment must have been started with [WithImages].
func (e *Env) Ko(t testing.TB, checkout string, args ...string) string {
	t.Helper()
	out, err := e.environment.Ko(t.Context(), checkout, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// KoEnvironment are the variables with which ko does the same elsewhere.
func (e *Env) KoEnvironment(t testing.TB) []string {
	t.Helper()
	variables, err := e.environment.KoEnvironment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return variables
}

// KubectlPath returns a folder with the control plane's kubectl in it, for PATH.
func (e *Env) KubectlPath(t testing.TB) string {
	t.Helper()
	path, err := e.environment.KubectlPath()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
