/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

var deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}

// theVariable and theValue are those that bind sets.
const (
	theVariable = "K_ADDRESS"
	theValue    = "http://a.example"
)

// bind returns a binding by name, created so many seconds after the epoch, that counts for the Deployments labeled app=a.
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
			Kinds: []v1.SubjectKind{{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments"}},
		},
	}
	for _, option := range options {
		option(b)
	}
	return b
}

// value gives a binding another value.
func value(value string) func(*v1.AddressBinding) {
	return func(b *v1.AddressBinding) { b.Status.Value = value }
}

// variable gives a binding another variable.
func variable(name string) func(*v1.AddressBinding) {
	return func(b *v1.AddressBinding) { b.Spec.Variable = name }
}

// without makes a binding known to have no address.
func without(b *v1.AddressBinding) {
	b.Status.MarkAddressNotResolved(v1.ReasonAddressNotFound, "gone")
}

// lost takes the status of a binding, as a backup that is restored does.
func lost(b *v1.AddressBinding) { b.Status = v1.AddressBindingStatus{} }

// unknown makes a binding one whose AddressableService has not been looked up by its operator.
func unknown(b *v1.AddressBinding) {
	b.Status.Value = ""
	b.Status.MarkAddressUnknown("no status")
}

// unserved makes a binding one of a version that the cluster does not serve.
func unserved(b *v1.AddressBinding) {
	b.Spec.Subject.APIVersion = "apps/v1beta1"
	b.Status.MarkSubjectsNotBound(v1.ReasonSubjectKindNotFound, "not served")
}

func byName(name string) func(*v1.AddressBinding) {
	return func(b *v1.AddressBinding) { b.Spec.Subject.Name, b.Spec.Subject.Selector = name, nil }
}

// marked returns an object's JSON with a mark that lists values, newest first, of one variable of one container.
func marked(t *testing.T, text, container, variable string, values ...string) string {
	t.Helper()
	m := mark{}
	for _, v := range slices.Backward(values) {
		m.add(container, variable, v, "b")
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return annotated(t, text, string(encoded))
}

// annotated returns an object's JSON with a value of our annotation.
func annotated(t *testing.T, text, value string) string {
	t.Helper()
	object := parsed(t, text)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	metadata["annotations"] = map[string]any{samples.BoundVariablesAnnotationKey: value, "of": "the user"}
	return encoded(t, object)
}

// plain returns an object's canonical JSON without annotations, and its mark.
func plain(t *testing.T, text string) (string, mark) {
	t.Helper()
	object := parsed(t, text)
	m := markOf(read(t, PodTemplate, encoded(t, map[string]any{"metadata": object["metadata"]})))
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "annotations")
	}
	return encoded(t, object), m
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("the test's object: %v\n%s", err, text)
	}
	return object
}

func encoded(t *testing.T, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// read returns an object of a shape from JSON.
func read(t *testing.T, shape Shape, text string) Object {
	t.Helper()
	object := shape.New()
	if err := json.Unmarshal([]byte(text), object); err != nil {
		t.Fatalf("the test's object: %v\n%s", err, text)
	}
	return object
}

// patched returns an object after the API server applied a patch.
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

// canonical sorts the keys of JSON, whose order a patch does not keep.
func canonical(t *testing.T, text string) string {
	t.Helper()
	return encoded(t, parsed(t, text))
}
