/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
)

// Validate implements apis.Validatable. The validating webhook calls it on create and update. It has the rules that the schema cannot express,
// because CEL sees no namespace and does not parse selectors.
func (ab *AddressBinding) Validate(ctx context.Context) (errs *apis.FieldError) {
	// A status update cannot break these rules, and an object that is being deleted must be able to lose its finalizers whatever it holds.
	if apis.GetUpdatedSubresource(ctx) != "" || ab.DeletionTimestamp != nil {
		return nil
	}
	// A value that was accepted before must not block a later update of another field.
	if old, ok := apis.GetBaseline(ctx).(*AddressBinding); ok && equality.Semantic.DeepEqual(old.Spec, ab.Spec) {
		return nil
	}
	subject := ab.Spec.Subject
	if subject.Namespace != "" && subject.Namespace != ab.Namespace {
		// A user who is allowed to write bindings in one namespace must not decide what runs in another.
		errs = apis.ErrInvalidValue(subject.Namespace, "namespace", fmt.Sprintf("subjects are in namespace %q, that of the binding", ab.Namespace))
	}
	if _, err := metav1.LabelSelectorAsSelector(subject.Selector); err != nil {
		errs = errs.Also(apis.ErrInvalidValue(subject.Selector, "selector", err.Error()))
	}
	return errs.ViaField("subject").ViaField("spec")
}
