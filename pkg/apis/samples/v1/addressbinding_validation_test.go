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
		"by name":                   {in: newBinding(complete)},
		"by selector":               {in: newBinding(complete, bySelector(metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}))},
		"by a selector of all":      {in: newBinding(complete, bySelector(metav1.LabelSelector{}))},
		"without its own namespace": {reason: "the defaulting webhook may be off", in: newBinding()},
		"core group":                {in: subject(func(ref *tracker.Reference) { ref.APIVersion, ref.Kind = "v1", "ReplicationController" })},
		"another namespace": {
			reason: "a user of one namespace must not decide what runs in another",
			in:     elsewhere(),
			want:   []string{`invalid value: elsewhere: spec.subject.namespace`, `in namespace "ns"`},
		},
		"a selector with an unknown operator": {
			in:   newBinding(complete, bySelector(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}})),
			want: []string{": spec.subject.selector", `"Like" is not a valid label selector operator`},
		},
		"a selector with an invalid value": {
			in:   newBinding(complete, bySelector(metav1.LabelSelector{MatchLabels: map[string]string{"a": "not a value"}})),
			want: []string{": spec.subject.selector", "not a value"},
		},
		"several faults": {
			reason: "one rejection names all errors, so that one edit can fix them",
			in: subject(func(ref *tracker.Reference) {
				ref.Namespace, ref.Name = "b", ""
				ref.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "not a value"}}
			}),
			want: []string{"spec.subject.namespace", "spec.subject.selector"},
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
			in:     newBinding(bindingBeingDeleted, withSubject(func(ref *tracker.Reference) { ref.Namespace = "elsewhere" })),
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
