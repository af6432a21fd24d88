/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestStart_VariableNamesNoEnvironment_IsAnError(t *testing.T) {
	t.Setenv("LOCALCLUSTER_KUBECONFIG", "/nonexistent/admin.kubeconfig")
	err := harness.StartShared(t.Context())
	if want := `LOCALCLUSTER_KUBECONFIG="/nonexistent/admin.kubeconfig": must be the path of the KUBECONFIG that make run prints`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}

// fatal records the message of a test that ends.
type fatal struct {
	testing.TB

	message string
}

func (f *fatal) Helper() {}

func (f *fatal) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

func TestEnv_SharedWithOtherSuites_CannotBeDisturbed(t *testing.T) {
	env := harness.SharedEnv()
	for what, disturb := range map[string]func(testing.TB){
		"ConfigMap config-logging":   func(t testing.TB) { env.SetConfig(t, "config-logging", nil) },
		"process controller":         func(t testing.TB) { env.Process(t, "controller").Kill(t) },
		"the history of etcd":        func(t testing.TB) { env.Compact(t) },
		"the count of all requests":  func(t testing.TB) { env.Requests(t) },
		"the count of all webhook c": func(t testing.TB) { env.Admissions(t) },
	} {
		f := &fatal{TB: t}
		func() {
			defer func() { _ = recover() }()
			disturb(f)
		}()
		if !strings.HasPrefix(f.message, what) || !strings.Contains(f.message, "harness.Own") {
			t.Errorf("got message %q, want one that begins with %q and names harness.Own", f.message, what)
		}
	}
}
