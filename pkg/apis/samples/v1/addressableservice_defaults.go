/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/conversion/knative"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// SetDefaults implements apis.Defaultable. The defaulting webhook calls it on create and update. knative.dev/pkg also calls it before each
// reconcile and after each conversion; there nothing is added.
func (as *AddressableService) SetDefaults(ctx context.Context) {
	knative.Preserve(ctx, conversionProperties, as)
	// Objects that were created at a version without the field have no visibility, which readers treat as the default. Filling it in would change the
	// spec along with, say, a label.
	old, isUpdate := apis.GetBaseline(ctx).(*AddressableService)
	if as.Spec.Visibility == "" && (apis.IsInCreate(ctx) || isUpdate && old.Spec.Visibility != "") {
		as.Spec.Visibility = VisibilityClusterLocal
	}
	SetMetadataDefaults(ctx, as)
}

// SetMetadataDefaults gives an AddressableService of any version its class and our
// finalizer, which admission alone decides about. SetDefaults of every version calls it.
func SetMetadataDefaults(ctx context.Context, as metav1.Object) {
	if !isAdmission(ctx, as) {
		return
	}
	setDefaultClass(ctx, as)
	if as.GetAnnotations()[samples.ClassAnnotationKey] == samples.ClassMallard {
		addFinalizer(as, samples.FinalizerName)
	}
}

// isAdmission reports whether an object is about to be stored, and not deleted.
func isAdmission(ctx context.Context, object metav1.Object) bool {
	return (apis.IsInCreate(ctx) || apis.IsInUpdate(ctx)) && apis.GetUpdatedSubresource(ctx) == "" && object.GetDeletionTimestamp() == nil
}

// setDefaultClass gives a new object the default class. An update that leaves the annotation out, as replacing the object with its first manifest
// does, keeps the class that it had.
func setDefaultClass(ctx context.Context, as metav1.Object) {
	annotations := as.GetAnnotations()
	if _, ok := annotations[samples.ClassAnnotationKey]; ok {
		return
	}
	class := config.FromContextOrDefaults(ctx).DefaultClass
	if old, ok := apis.GetBaseline(ctx).(metav1.Object); ok {
		if class, ok = old.GetAnnotations()[samples.ClassAnnotationKey]; !ok {
			return
		}
	}
	as.SetAnnotations(kmeta.UnionMaps(annotations, map[string]string{samples.ClassAnnotationKey: class}))
}

// addFinalizer adds a finalizer during admission, as Kubernetes does for volume claims. When the generated reconciler has to add it, that is a
// patch and an event more for each object, and a conflict, because it then writes the status with the resourceVersion from before the patch.
func addFinalizer(object metav1.Object, name string) {
	if finalizers := object.GetFinalizers(); !slices.Contains(finalizers, name) {
		object.SetFinalizers(append(finalizers, name))
	}
}
