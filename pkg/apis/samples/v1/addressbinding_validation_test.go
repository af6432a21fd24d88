/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/tracker"
)

func TestAddressBinding_Validate_ReturnsErrorsWithFields(t *testing.T) {
	subject := func(change func(*tracker.Reference)) *AddressBinding {
		return newBinding(complete, withSubject(change))
	}
	elsewhere := func() *AddressBinding {
		return subject(func(ref *tracker.Reference) { ref.Namespace = "elsewhere" })
	}
	for name, tc := range map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		in     *AddressBinding
		// want are parts of the message; none means that the object is accepted.
		want []string
	}{
		"by name": {in: newBinding(complete)},
		"by a name with dots": {
			reason: "names of objects may have them; knative.dev/pkg's own validation rejects it",
			in:     subject(func(ref *tracker.Reference) { ref.Name = "a.b.c" }),
		},
		"by selector":               {in: newBinding(complete, bySelector(metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}))},
		"by a selector of all":      {in: newBinding(complete, bySelector(metav1.LabelSelector{}))},
		"without its own namespace": {reason: "the defaulting webhook may be off", in: newBinding()},
		"core group":                {in: subject(func(ref *tracker.Reference) { ref.APIVersion, ref.Kind = "v1", "ReplicationController" })},
		"another namespace": {
			reason: "a user of one namespace must not decide what runs in another",
			in:     elsewhere(),
			want:   []string{`invalid namespace "elsewhere": spec.subject.namespace`, `or say "ns"`},
		},
		"no API version": {in: subject(func(ref *tracker.Reference) { ref.APIVersion = "" }), want: []string{"missing", "spec.subject.apiVersion"}},
		"no kind":        {in: subject(func(ref *tracker.Reference) { ref.Kind = "" }), want: []string{"missing", "spec.subject.kind"}},
		"two slashes":    {in: subject(func(ref *tracker.Reference) { ref.APIVersion = "a/b/c" }), want: []string{`"a/b/c": spec.subject.apiVersion`, "apps/v1"}},
		"an invalid group": {
			in:   subject(func(ref *tracker.Reference) { ref.APIVersion = "Apps/v1" }),
			want: []string{`"Apps/v1": spec.subject.apiVersion`},
		},
		"an invalid version": {in: subject(func(ref *tracker.Reference) { ref.APIVersion = "apps/" }), want: []string{"spec.subject.apiVersion"}},
		"an invalid kind":    {in: subject(func(ref *tracker.Reference) { ref.Kind = "a kind" }), want: []string{`"a kind": spec.subject.kind`, "such as Deployment"}},
		"a kind with a hyphen": {
			reason: "the tracker of knative.dev/pkg cannot follow it",
			in:     subject(func(ref *tracker.Reference) { ref.Kind = "a-kind" }), want: []string{"spec.subject.kind"},
		},
		"an invalid name":           {in: subject(func(ref *tracker.Reference) { ref.Name = "Not a name" }), want: []string{`"Not a name": spec.subject.name`}},
		"neither name nor selector": {in: subject(func(ref *tracker.Reference) { ref.Name = "" }), want: []string{"expected exactly one, got neither", "spec.subject.name, spec.subject.selector"}},
		"both": {
			in:   subject(func(ref *tracker.Reference) { ref.Selector = &metav1.LabelSelector{} }),
			want: []string{"expected exactly one, got both", "spec.subject.name, spec.subject.selector"},
		},
		"a selector with an unknown operator": {
			in:   newBinding(complete, bySelector(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}})),
			want: []string{"invalid label selector: spec.subject.selector", `"Like" is not a valid label selector operator`},
		},
		"a selector with an invalid value": {
			in:   newBinding(complete, bySelector(metav1.LabelSelector{MatchLabels: map[string]string{"a": "not a value"}})),
			want: []string{"invalid label selector: spec.subject.selector", "not a value"},
		},
		"several faults": {
			reason: "one rejection names all errors, so that one edit can fix them",
			in:     subject(func(ref *tracker.Reference) { ref.APIVersion, ref.Kind, ref.Namespace, ref.Name = "", "", "b", "" }),
			want:   []string{"spec.subject.apiVersion", "spec.subject.kind", "spec.subject.namespace", "spec.subject.name"},
		},
		"update to another namespace": {
			ctx:  func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, newBinding(complete)) },
			in:   elsewhere(),
			want: []string{"spec.subject.namespace"},
		},
		"update that leaves the spec": {
			reason: "what was accepted once must not block a later update of something else",
			ctx:    func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, elsewhere()) },
			in:     elsewhere(),
		},
		"while being deleted": {
			reason: "it must be able to lose its finalizers",
			in:     newBinding(bindingBeingDeleted, withSubject(func(ref *tracker.Reference) { ref.Kind = "" })),
		},
		"status": {
			reason: "a status update cannot break these rules",
			ctx: func(ctx context.Context) context.Context {
				return apis.WithinSubResourceUpdate(ctx, elsewhere(), "status")
			},
			in: elsewhere(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := apis.WithinCreate(t.Context())
			if tc.ctx != nil {
				ctx = tc.ctx(t.Context())
			}
			err := tc.in.Validate(ctx)
			if (err != nil) != (len(tc.want) > 0) {
				t.Fatalf("Validate() = %v, want parts %q\nReason: %s", err, tc.want, tc.reason)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Validate() = %v, want it to say %q\nReason: %s", err, part, tc.reason)
				}
			}
		})
	}
}
