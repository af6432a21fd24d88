/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"
)

// withStash puts a text into the annotation for what this version has no field for.
func withStash(text string) func(*AddressableService) {
	return func(as *AddressableService) {
		metav1.SetMetaDataAnnotation(&as.ObjectMeta, "conversion.samples.knative.dev/properties", text)
	}
}

func TestSetDefaults_WithOlderVersions(t *testing.T) {
	updateOf := func(old *AddressableService) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, old) }
	}
	for name, tc := range map[string]struct {
		ctx      func(context.Context) context.Context
		in, want *AddressableService
	}{
		// knative.dev/pkg calls SetDefaults after each conversion, and an absent field must stay absent.
		"conversion": {
			ctx: knative.WithConverting,
			in:  newObject(), want: newObject(),
		},
		// A client that sends its first manifest must not lose what it cannot see.
		"update that leaves the annotation out": {
			ctx: updateOf(newObject(withStash("{}"))), in: newObject(), want: newObject(withStash("{}")),
		},
		// A client of the hub sees everything, so it can remove the rest.
		"update that empties the annotation": {
			ctx: updateOf(newObject(withStash("{}"), withClass("other"))), in: newObject(withStash("")), want: newObject(withClass("other")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.SetDefaults(tc.ctx(t.Context()))
			if diff := cmp.Diff(tc.want, tc.in); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
