/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"encoding/json"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

var deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}

// theVariable and theValue are what bind makes.
const (
	theVariable = "K_ADDRESS"
	theValue    = "http://a.example"
)

// bind returns a binding by name, created so many seconds after the epoch, that counts for the Deployments labelled app=a.
func bind(name string, created int64, options ...func(*v1.AddressBinding)) *v1.AddressBinding {
	b := &v1.AddressBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", CreationTimestamp: metav1.NewTime(time.Unix(created, 0))},
		Spec: v1.AddressBindingSpec{
			Subject: tracker.Reference{
				APIVersion: "apps/v1", Kind: "Deployment", Namespace: "ns",
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
			},
			Address:  v1.AddressReference{Name: "a"},
			Variable: theVariable,
		},
		Status: v1.AddressBindingStatus{
			Value: theValue,
			Bound: []v1.BoundVariable{{APIVersion: "apps/v1", Kind: "Deployment", Name: theVariable, Value: theValue}},
		},
	}
	for _, option := range options {
		option(b)
	}
	return b
}

// value gives a binding another value.
func value(value string) func(*v1.AddressBinding) {
	return func(b *v1.AddressBinding) { b.Status.Value, b.Status.Bound[0].Value = value, value }
}

// variable gives a binding another variable.
func variable(name string) func(*v1.AddressBinding) {
	return func(b *v1.AddressBinding) { b.Spec.Variable, b.Status.Bound[0].Name = name, name }
}

// without has a binding choose nothing any more, while what it has written still is its own.
func without(b *v1.AddressBinding) { b.Status.Value = "" }

// read returns an object of a shape from JSON.
func read(t *testing.T, shape Shape, text string) Object {
	t.Helper()
	object := shape.New()
	if err := json.Unmarshal([]byte(text), object); err != nil {
		t.Fatalf("the test's object: %v\n%s", err, text)
	}
	return object
}

// patched returns what the API server makes of a patch.
func patched(t *testing.T, patch duck.JSONPatch, text string) string {
	t.Helper()
	after, err := tryPatch(patch, text)
	if err != nil {
		t.Fatalf("applying %v to %s: %v", patch, text, err)
	}
	return canonical(t, after)
}

func tryPatch(patch duck.JSONPatch, text string) (string, error) {
	if len(patch) == 0 {
		return text, nil
	}
	raw, err := patch.MarshalJSON()
	if err != nil {
		return "", err
	}
	decoded, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return "", err
	}
	after, err := decoded.Apply([]byte(text))
	return string(after), err
}

// canonical sorts the keys of JSON, which a patch does not keep in their order.
func canonical(t *testing.T, text string) string {
	t.Helper()
	var parsed any
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatalf("the test's object: %v\n%s", err, text)
	}
	sorted, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}
