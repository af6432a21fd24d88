/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"fmt"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

var (
	resource   = v1.SchemeGroupVersion.WithResource("addressableservices")
	finalizers = []string{samples.FinalizerName}
)

// TestMain lets kubectl have this program as its editor and as its diff: see tools_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(toolVariable) != "" {
		os.Exit(runTool(os.Args[1:]))
	}
	if err := offerTools(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	harness.Main(m)
}

// subject is a manifest as users write it: neither class nor finalizer.
const subject = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: subject}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  path: /old
`

// publishing returns the subject with an alias in the directory namespace.
func publishing(alias string) string { return subject + "  publish: {alias: " + alias + "}\n" }

// user is a person with kubectl and a namespace.
type user struct {
	env       *harness.Env
	namespace string
}

// newUser has a namespace with the Service that the subject refers to.
func newUser(t *testing.T) user {
	t.Helper()
	env := harness.Shared(t)
	u := user{env, env.Namespace(t)}
	env.Apply(t, u.namespace, fixtures.Target)
	return u
}

// run runs kubectl in the user's namespace.
func (u user) run(t *testing.T, args ...string) string {
	t.Helper()
	return u.env.Kubectl(t, append([]string{"--namespace", u.namespace}, args...)...)
}

// input runs kubectl in the user's namespace with input, and returns the error that it ends with.
func (u user) input(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	return u.env.TryKubectl(t, input, append([]string{"--namespace", u.namespace}, args...)...)
}

// apply runs kubectl apply with a manifest and returns its last line.
func (u user) apply(t *testing.T, manifest string, args ...string) string {
	t.Helper()
	out, err := u.input(t, manifest, append([]string{"apply", "-f", "-"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func (u user) ref() harness.Ref {
	return harness.Ref{Resource: resource, Namespace: u.namespace, Name: "subject"}
}

// ready waits until the subject is Ready, and so until the operator has nothing more to write.
func (u user) ready(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return u.env.Await(t, u.ref(), harness.Ready)
}

func (u user) get(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return u.env.Await(t, u.ref(), harness.Exists)
}

// checkKept checks that an object is still ours: that it has our class and finalizer.
func checkKept(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	if got := o.GetAnnotations()[samples.ClassAnnotationKey]; got != samples.ClassMallard {
		t.Errorf("its class is %q, want %q", got, samples.ClassMallard)
	}
	if got := o.GetFinalizers(); len(got) != 1 || got[0] != samples.FinalizerName {
		t.Errorf("its finalizers are %q, want %q", got, finalizers)
	}
}

func field(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}

// checkSays checks that an error has all these parts.
func checkSays(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("kubectl succeeded, want an error that says %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("kubectl says %v, want %q in it", err, part)
		}
	}
}

// checkGone checks that an object does not exist at this moment.
func checkGone(t *testing.T, get func() error) {
	t.Helper()
	if err := get(); !apierrors.IsNotFound(err) {
		t.Errorf("got error %v, want that it is not found", err)
	}
}
