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

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func TestAddressableService_SetDefaults_SetsClassFinalizerAndVisibility(t *testing.T) {
	create := apis.WithinCreate
	// An object that was created at v1 is complete.
	updateOf := func(old *AddressableService) func(context.Context) context.Context {
		withVisibility(VisibilityClusterLocal)(old)
		return func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, old) }
	}
	asIs := func(ctx context.Context) context.Context { return ctx }
	defaultClass := func(class string) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context {
			cfg := config.DefaultAddressable()
			cfg.DefaultClass = class
			return apis.WithinCreate(config.ToContext(ctx, cfg))
		}
	}

	for name, tc := range map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		in     *AddressableService
		want   *AddressableService
	}{
		"create gives class, finalizer and visibility": {
			reason: "what is not set is defaulted in the one write that creates the object",
			ctx:    create,
			in:     newObject(),
			want: newObject(withClass(samples.ClassMallard), withFinalizers(samples.FinalizerName),
				withVisibility(VisibilityClusterLocal)),
		},
		"create takes the class from the ConfigMap": {
			reason: "an object of another class does not get our finalizer, because no controller would remove it",
			ctx:    defaultClass("other"),
			in:     newObject(),
			want:   newObject(withClass("other"), withVisibility(VisibilityClusterLocal)),
		},
		"create keeps a class that is given": {
			reason: "the default is only for who says nothing",
			ctx:    create,
			in:     newObject(withClass("other")),
			want:   newObject(withClass("other"), withVisibility(VisibilityClusterLocal)),
		},
		"create keeps an empty class": {
			reason: "a class that is wrong is for validation to reject, not to be replaced silently",
			ctx:    create,
			in:     newObject(withClass("")),
			want:   newObject(withClass(""), withVisibility(VisibilityClusterLocal)),
		},
		"create keeps the finalizers of others and a visibility": {
			reason: "defaults add, they do not replace",
			ctx:    create,
			in:     newObject(withFinalizers("other"), withVisibility(VisibilityPublic)),
			want: newObject(withClass(samples.ClassMallard), withFinalizers("other", samples.FinalizerName),
				withVisibility(VisibilityPublic)),
		},
		"update that leaves the class out keeps it": {
			reason: "kubectl replace with the first manifest must neither fail nor change the class",
			ctx:    updateOf(newObject(withClass("other"))),
			in:     newObject(),
			want:   newObject(withClass("other"), withVisibility(VisibilityClusterLocal)),
		},
		"update that leaves our class out keeps class and finalizer": {
			reason: "the first manifest has neither of the two",
			ctx:    updateOf(newObject(withClass(samples.ClassMallard))),
			in:     newObject(),
			want: newObject(withClass(samples.ClassMallard), withFinalizers(samples.FinalizerName),
				withVisibility(VisibilityClusterLocal)),
		},
		"update of an object without class gives it none": {
			reason: "who disowned an object before the webhook ran decides; a label must not hand it to us",
			ctx:    updateOf(newObject()),
			in:     newObject(withLabel("a", "b")),
			want:   newObject(withLabel("a", "b"), withVisibility(VisibilityClusterLocal)),
		},
		"update does not add the finalizer twice": {
			reason: "finalizers are a set",
			ctx:    updateOf(newObject(withClass(samples.ClassMallard))),
			in:     newObject(withClass(samples.ClassMallard), withFinalizers(samples.FinalizerName)),
			want: newObject(withClass(samples.ClassMallard), withFinalizers(samples.FinalizerName),
				withVisibility(VisibilityClusterLocal)),
		},
		"update while deleting does not bring the finalizer back": {
			reason: "the API server rejects new finalizers on an object that is being deleted, so it could never go",
			ctx:    updateOf(newObject(beingDeleted, withClass(samples.ClassMallard), withFinalizers(samples.FinalizerName))),
			in:     newObject(beingDeleted, withClass(samples.ClassMallard)),
			want:   newObject(beingDeleted, withClass(samples.ClassMallard), withVisibility(VisibilityClusterLocal)),
		},
		"status update touches no metadata": {
			reason: "status updates change neither class nor finalizer",
			ctx: func(ctx context.Context) context.Context {
				return apis.WithinSubResourceUpdate(ctx, newObject(withClass(samples.ClassMallard), withVisibility(VisibilityClusterLocal)), "status")
			},
			in:   newObject(),
			want: newObject(withVisibility(VisibilityClusterLocal)),
		},
		"update of an object without visibility gives it none": {
			reason: "it was created at a version without the field; a label must not change its spec",
			ctx:    func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, newObject()) },
			in:     newObject(withLabel("a", "b")),
			want:   newObject(withLabel("a", "b")),
		},
		"outside of admission nothing is defaulted": {
			reason: "knative.dev/pkg calls SetDefaults for the live object of an update, which would then look complete",
			ctx:    asIs,
			in:     newObject(),
			want:   newObject(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.SetDefaults(tc.ctx(t.Context()))
			if diff := cmp.Diff(tc.want, tc.in); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAddressableService_SetDefaults_LeavesTheOldObjectUnchanged(t *testing.T) {
	old := newObject(withClass(samples.ClassMallard))
	before := old.DeepCopy()
	updated := newObject()
	updated.SetDefaults(apis.WithinUpdate(t.Context(), old))
	if diff := cmp.Diff(before, old); diff != "" {
		t.Errorf("the object before the update was changed (-before, +after):\n%s", diff)
	}
}
