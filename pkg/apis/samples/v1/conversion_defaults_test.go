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

	"github.com/mallard-dev/mallard/conversion"
)

// withStash puts a text into the annotation for what this version has no field for.
func withStash(text string) func(*AddressableService) {
	return func(as *AddressableService) {
		metav1.SetMetaDataAnnotation(&as.ObjectMeta, "conversion.samples.knative.dev/properties", text)
	}
}

func TestSetDefaults_WithOlderVersions(t *testing.T) {
	for name, tc := range map[string]struct {
		ctx      context.Context
		in, want *AddressableService
	}{
		// knative.dev/pkg calls SetDefaults after each conversion, and an absent field must stay absent.
		"conversion": {
			ctx: conversion.WithConverting(apis.WithinCreate(t.Context())), in: newObject(), want: newObject(),
		},
		// A client that sends its first manifest must not lose what it cannot see.
		"update that leaves the annotation out": {
			ctx: apis.WithinUpdate(t.Context(), newObject(withStash("{}"))), in: newObject(), want: newObject(withStash("{}")),
		},
		// A client of the hub sees everything, so it can remove the rest.
		"update that empties the annotation": {
			ctx: apis.WithinUpdate(t.Context(), newObject(withStash("{}"), withClass("other"))), in: newObject(withStash("")),
			want: newObject(withClass("other")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.SetDefaults(tc.ctx)
			if diff := cmp.Diff(tc.want, tc.in); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
