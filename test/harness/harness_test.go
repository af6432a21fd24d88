/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestMain(m *testing.M) { harness.Main(m) }

// sample is a Service and an AddressableService that refers to it.
const sample = fixtures.Target + "---" + `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: subject}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
`

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {name: subject}
data: {value: "one"}
`

func TestHarness_Samples_BecomeReady(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	refs := env.Apply(t, ns, sample)
	env.Await(t, refs[1], harness.Ready)
	if out := env.Kubectl(t, "get", "asvc", "-n", ns, "subject", "-o", "jsonpath={.status.address.url}"); !strings.Contains(out, ns) {
		t.Errorf("kubectl get: got %q, want a URL in namespace %s", out, ns)
	}
}

func TestHarness_Namespace_IsUnique(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	first, second := env.Namespace(t), env.Namespace(t)
	if first == second || !strings.HasPrefix(first, "t-harness-namespace-isunique-") {
		t.Errorf("got namespaces %q and %q, want different ones with the name of the test", first, second)
	}
}

func TestHarness_Await_ReturnsTheObjectOrFails(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := env.Apply(t, ns, configMap)[0]
	if o := env.Await(t, ref, harness.Exists); o.GetName() != "subject" {
		t.Errorf("got %v, want the ConfigMap", o)
	}
	// No state is missed from the first one on.
	first, seen := make(chan struct{}), make(chan struct{})
	isFirst := sync.OnceFunc(func() { close(first) })
	go func() {
		defer close(seen)
		env.Await(t, ref, func(o *unstructured.Unstructured) error {
			isFirst()
			return value("two")(o)
		})
		env.Await(t, ref, harness.Deleted)
	}()
	select {
	case <-first:
	case <-seen:
	}
	env.Patch(t, ref, `{"data": {"value": "two"}}`)
	env.Delete(t, ref)
	<-seen
}

func value(want string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		if got, _, _ := unstructured.NestedString(o.Object, "data", "value"); got != want {
			return errors.New("its value is " + got)
		}
		return nil
	}
}

// recorder is a test that may fail without failing the one that looks at it.
type recorder struct {
	testing.TB
	failure string
}

type failed struct{}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = strings.TrimSpace(fmt.Sprintf(format, args...))
	panic(failed{})
}

// failureOf returns the message of a failed test.
func failureOf(t *testing.T, test func(testing.TB)) (failure string) {
	t.Helper()
	r := &recorder{TB: t}
	defer func() {
		if _, ok := recover().(failed); ok {
			failure = r.failure
		}
	}()
	test(r)
	return ""
}

func TestHarness_Throughout_FailsOnAViolation(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := env.Apply(t, ns, configMap)[0]
	other := env.Apply(t, ns, strings.ReplaceAll(configMap, "subject", "other"))[0]

	env.Throughout(t, ref, env.Unchanged(t, ref), func() { env.Patch(t, other, `{"data": {"value": "two"}}`) })

	passing := failureOf(t, func(t testing.TB) {
		env.Throughout(t, ref, value("one"), func() {
			env.Patch(t, ref, `{"data": {"value": "two"}}`)
			env.Patch(t, ref, `{"data": {"value": "one"}}`)
		})
	})
	if !strings.Contains(passing, "its value is two") {
		t.Errorf("a state that has passed by the end: got failure %q, want one that names it", passing)
	}
	deleted := failureOf(t, func(t testing.TB) {
		env.Throughout(t, ref, harness.Exists, func() { env.Delete(t, ref) })
	})
	if !strings.Contains(deleted, "it does not exist") {
		t.Errorf("a deleted object: got failure %q, want one that says so", deleted)
	}
}

func TestHarness_Apply_RejectsUnknownFields(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	_, err := env.TryApply(t, env.Namespace(t), strings.Replace(sample, "  ref:", "  unknown: 1\n  ref:", 1))
	if !apierrors.IsBadRequest(err) && !apierrors.IsInvalid(err) && err == nil {
		t.Errorf("got error %v, want a rejection", err)
	}
}

func TestHarness_Audit_ReturnsEntriesSinceTheMark(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	mark := env.Mark(t)
	ref := env.Apply(t, ns, configMap)[0]
	inNamespace := harness.ByRequest(harness.InNamespace(ns))
	entries := mark.Entries(t, inNamespace, harness.Writes, harness.ByVerb("patch"))
	if len(entries) != 1 || entries[0].Name != "subject" || entries[0].Resource != "configmaps" || entries[0].Code != 201 {
		t.Errorf("after an apply: got %+v, want one patch of configmaps subject with code 201", entries)
	}
	mark = env.Mark(t)
	env.Patch(t, ref, `{"data": {"value": "two"}}`)
	// A controller of Kubernetes may write its ConfigMap of the namespace late.
	if entries := mark.Entries(t, inNamespace, harness.Writes, harness.ByVerb("patch")); len(entries) != 1 || entries[0].Code != 200 {
		t.Errorf("after the second mark: got %+v, want one write with code 200", entries)
	}
	if entries := mark.Entries(t, inNamespace, harness.ByUser(env.User("controller"))); len(entries) != 0 {
		t.Errorf("of another user: got %+v, want none", entries)
	}
}

// recorded is a test whose errors are recorded.
type recorded struct {
	testing.TB

	cleanups []func()
	errors   []string
}

func (r *recorded) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorded) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }

func (r *recorded) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

// end ends the test.
func (r *recorded) end() []string {
	for _, cleanup := range slices.Backward(r.cleanups) {
		cleanup()
	}
	return r.errors
}

func TestHarness_CanaryInAnObject_FailsTheTest(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns, clean, leaking := env.Namespace(t), &recorded{TB: t}, &recorded{TB: t}
	hidden, shown := harness.Canary(clean), harness.Canary(leaking)
	env.Apply(t, ns, fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: it}\nstringData: {a: %q}\n---\n", hidden)+
		fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\nbinaryData: {a: %s}\n", base64.StdEncoding.EncodeToString([]byte(shown))))
	want := []string{"the value of a Secret is in configmaps " + ns + "/it, in base64 after 0 bytes"}
	if none, got := clean.end(), leaking.end(); len(none) > 0 || !slices.Equal(got, want) {
		t.Errorf("the errors are %q and %q, want %q in the second", none, got, want)
	}
}
