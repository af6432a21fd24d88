/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Validate implements apis.Validatable. The validating webhook calls it on
// create and update. It holds only what the schema and its CEL rules cannot
// say, because they see neither annotations, nor the namespace.
func (as *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	// A status update cannot break these rules, and an object that is being
	// deleted must be able to lose its finalizers whatever it holds.
	if apis.GetUpdatedSubresource(ctx) != "" || as.DeletionTimestamp != nil {
		return nil
	}
	errs := as.validateClass(ctx)

	// What was accepted once must not block a later update of something else.
	if old, ok := apis.GetBaseline(ctx).(*AddressableService); ok && equality.Semantic.DeepEqual(old.Spec, as.Spec) {
		return errs
	}
	return errs.Also(as.validateTarget().ViaField("spec.ref"))
}

func (as *AddressableService) validateClass(ctx context.Context) *apis.FieldError {
	class, ok := as.Annotations[samples.ClassAnnotationKey]
	if old, isUpdate := apis.GetBaseline(ctx).(*AddressableService); isUpdate {
		if was, had := old.Annotations[samples.ClassAnnotationKey]; had {
			if class == was {
				return nil
			}
			return classError(fmt.Sprintf("the class cannot be changed from %q to %q", was, class),
				"Delete the object and create it with the other class.")
		}
	}
	if !ok {
		return nil
	}
	if problems := validation.IsDNS1123Subdomain(class); len(problems) > 0 {
		return classError(fmt.Sprintf("invalid class %q", class), problems[0])
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
	if ref.GroupKind() != Kind("AddressableService") {
		return nil
	}
	if ref.NamespaceOr(as.Namespace) == as.Namespace && ref.Name == as.Name {
		return &apis.FieldError{
			Message: "an AddressableService cannot refer to itself",
			Paths:   []string{"name"},
			Details: "Refer to a Service or to another Addressable.",
		}
	}
	return nil
}
