/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Validate implements apis.Validatable. The validating webhook calls it on
// create and update. It contains the rules that the schema and CEL cannot express,
// because they see neither annotations, nor the namespace, and repeats the others for objects that were written at an older version.
func (as *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	// A status update cannot break these rules, and an object that is being
	// deleted must be able to lose its finalizers whatever it holds.
	if apis.GetUpdatedSubresource(ctx) != "" || as.DeletionTimestamp != nil {
		return nil
	}
	errs := as.validateClass(ctx).Also(knative.Validate(ctx, conversionProperties, as), as.validateRepresentations(ctx))

	// A value that was accepted before must not block a later update of another field.
	if old, ok := apis.GetBaseline(ctx).(*AddressableService); ok && equality.Semantic.DeepEqual(old.Spec, as.Spec) {
		return errs
	}
	return errs.Also(as.Spec.validateRules().ViaField("spec"), as.validateTarget().ViaField("spec.ref"))
}

// validateClass reports a class that changes or is no name, and warns of one that this
// operator does not serve: such an object never gets a status.
func (as *AddressableService) validateClass(ctx context.Context) *apis.FieldError {
	class, ok := as.Annotations[samples.ClassAnnotationKey]
	old, isUpdate := apis.GetBaseline(ctx).(*AddressableService)
	if isUpdate && metav1.HasAnnotation(old.ObjectMeta, samples.ClassAnnotationKey) {
		if was := old.Annotations[samples.ClassAnnotationKey]; class != was {
			return classError(fmt.Sprintf("the class cannot be changed from %q to %q", was, class),
				"Delete the object and create it with the other class.")
		}
	} else if problems := validation.IsDNS1123Subdomain(class); ok && len(problems) > 0 {
		return classError(fmt.Sprintf("invalid class %q", class), problems[0])
	}
	if ok && class != samples.ClassMallard {
		// The API server drops a warning of several lines, which details would make of it.
		return classError(fmt.Sprintf("this operator serves no AddressableService of class %q; its class is %q", class, samples.ClassMallard), "").
			At(apis.WarningLevel)
	}
	return nil
}

// classError writes the path out, because ViaKey takes the dots of a key for
// those between fields.
func classError(message, details string) *apis.FieldError {
	return &apis.FieldError{
		Message: message,
		Paths:   []string{"metadata.annotations[" + samples.ClassAnnotationKey + "]"},
		Details: details,
	}
}

func (as *AddressableService) validateTarget() *apis.FieldError {
	ref := as.Spec.Ref
	if ref.GroupVersionKind().GroupKind() != samples.Kind("AddressableService") || cmp.Or(ref.Namespace, as.Namespace) != as.Namespace || ref.Name != as.Name {
		return nil
	}
	return &apis.FieldError{
		Message: "an AddressableService cannot refer to itself",
		Paths:   []string{"name"},
		Details: "Refer to a Service or to another Addressable.",
	}
}
