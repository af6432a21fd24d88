/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"slices"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// SetDefaults implements apis.Defaultable. The defaulting webhook calls it on
// create and update; knative.dev/pkg also calls it before each reconcile and
// after each conversion, where only the spec may be completed: class and
// finalizer are decided by admission alone.
func (as *AddressableService) SetDefaults(ctx context.Context) {
	as.Spec.SetDefaults(ctx)

	admission := apis.IsInCreate(ctx) || apis.IsInUpdate(ctx)
	if !admission || apis.GetUpdatedSubresource(ctx) != "" || as.DeletionTimestamp != nil {
		return
	}
	as.setDefaultClass(ctx)
	as.setFinalizer()
}

// SetDefaults completes the spec.
func (s *AddressableServiceSpec) SetDefaults(context.Context) {
	if s.Visibility == "" {
		s.Visibility = VisibilityClusterLocal
	}
}

// setDefaultClass gives a new object the default class. An update that leaves the
// annotation out, as replacing the object with its first manifest does, keeps
// the class that it had.
func (as *AddressableService) setDefaultClass(ctx context.Context) {
	if _, ok := as.Annotations[samples.ClassAnnotationKey]; ok {
		return
	}
	class := config.FromContextOrDefaults(ctx).DefaultClass
	if old, ok := apis.GetBaseline(ctx).(*AddressableService); ok {
		if class, ok = old.Annotations[samples.ClassAnnotationKey]; !ok {
			return
		}
	}
	if as.Annotations == nil {
		as.Annotations = make(map[string]string, 1)
	}
	as.Annotations[samples.ClassAnnotationKey] = class
}

// setFinalizer adds our finalizer during admission, as Kubernetes does for
// volume claims. When the generated reconciler has to add it, that is a patch
// and an event more for each object, and a conflict, because it then writes the
// status with the resourceVersion from before the patch.
func (as *AddressableService) setFinalizer() {
	if as.Annotations[samples.ClassAnnotationKey] != samples.ClassMallard {
		return
	}
	if !slices.Contains(as.Finalizers, samples.FinalizerName) {
		as.Finalizers = append(as.Finalizers, samples.FinalizerName)
	}
}
