/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/tracker"
)

func TestAddressBinding_SetDefaults_SetsFields(t *testing.T) {
	update := func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, newBinding(complete)) }
	otherVariable := func(ab *AddressBinding) { ab.Spec.Variable = "PEER" }
	for name, tc := range map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		in     *AddressBinding
		want   *AddressBinding
	}{
		"create": {
			reason: "what is not set is defaulted in the one write that creates the object",
			ctx:    apis.WithinCreate, in: newBinding(), want: newBinding(complete),
		},
		"create with what is said": {
			reason: "defaults add, they do not replace",
			ctx:    apis.WithinCreate,
			in: newBinding(otherVariable, withBindingFinalizers("other"), withSubject(func(ref *tracker.Reference) {
				ref.Namespace = "elsewhere"
			})),
			want: newBinding(otherVariable, withBindingFinalizers("other", "samples.knative.dev/addressbinding"),
				withSubject(func(ref *tracker.Reference) { ref.Namespace = "elsewhere" })),
		},
		"update with the first manifest": {
			reason: "kubectl replace must not take the finalizer away",
			ctx:    update, in: newBinding(), want: newBinding(complete),
		},
		"update of what is complete": {
			reason: "finalizers are a set",
			ctx:    update, in: newBinding(complete), want: newBinding(complete),
		},
		"update while deleting": {
			reason: "the API server rejects new finalizers on an object that is being deleted, so it could never go",
			ctx:    update, in: newBinding(bindingBeingDeleted), want: newBinding(bindingBeingDeleted),
		},
		"status update": {
			reason: "status updates change nothing else",
			ctx: func(ctx context.Context) context.Context {
				return apis.WithinSubResourceUpdate(ctx, newBinding(complete), "status")
			},
			in: newBinding(), want: newBinding(),
		},
		"outside of admission": {
			reason: "knative.dev/pkg calls SetDefaults before each reconciliation, which must not change an object without storing it",
			ctx:    func(ctx context.Context) context.Context { return ctx },
			in:     newBinding(), want: newBinding(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.SetDefaults(tc.ctx(t.Context()))
			ignoreTime := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".DeletionTimestamp" }, cmp.Ignore())
			if diff := cmp.Diff(tc.want, tc.in, ignoreTime); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
