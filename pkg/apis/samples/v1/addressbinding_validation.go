/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/tracker"
)

// Validate implements apis.Validatable. The validating webhook calls it on create and update. It holds what the schema
// cannot say of a type that is knative.dev/pkg's.
func (ab *AddressBinding) Validate(ctx context.Context) *apis.FieldError {
	// A status update cannot break these rules, and an object that is being deleted must be able to lose its finalizers
	// whatever it holds.
	if apis.GetUpdatedSubresource(ctx) != "" || ab.DeletionTimestamp != nil {
		return nil
	}
	// A value that was accepted before must not block a later update of another field.
	if old, ok := apis.GetBaseline(ctx).(*AddressBinding); ok && equality.Semantic.DeepEqual(old.Spec, ab.Spec) {
		return nil
	}
	return validateSubject(&ab.Spec.Subject, ab.Namespace).ViaField("spec.subject")
}

// validateSubject stands in for the reference's own Validate, which rejects the names of objects that have dots. It also rejects references that can
// never be resolved, and subjects in other namespaces: a user who is allowed to write bindings in one namespace must not decide what runs in another.
func validateSubject(ref *tracker.Reference, namespace string) *apis.FieldError {
	errs := validateSubjectKind(ref)
	if ref.Namespace != "" && ref.Namespace != namespace {
		errs = errs.Also(invalid("namespace", fmt.Sprintf("invalid namespace %q", ref.Namespace),
			fmt.Sprintf("Subjects are in the namespace of the binding: leave it out, or say %q.", namespace)))
	}
	switch {
	case ref.Name != "" && ref.Selector != nil:
		return errs.Also(apis.ErrMultipleOneOf("name", "selector"))
	case ref.Selector != nil:
		if _, err := metav1.LabelSelectorAsSelector(ref.Selector); err != nil {
			errs = errs.Also(invalid("selector", "invalid label selector", err.Error()))
		}
	case ref.Name == "":
		return errs.Also(apis.ErrMissingOneOf("name", "selector"))
	default:
		if problems := validation.IsDNS1123Subdomain(ref.Name); len(problems) > 0 {
			errs = errs.Also(invalid("name", fmt.Sprintf("invalid name %q", ref.Name), strings.Join(problems, "; ")))
		}
	}
	return errs
}

func validateSubjectKind(ref *tracker.Reference) (errs *apis.FieldError) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	switch {
	case ref.APIVersion == "":
		errs = errs.Also(apis.ErrMissingField("apiVersion"))
	case err != nil || len(validation.IsDNS1035Label(gv.Version)) > 0 || gv.Group != "" && len(validation.IsDNS1123Subdomain(gv.Group)) > 0:
		errs = errs.Also(invalid("apiVersion", fmt.Sprintf("invalid API version %q", ref.APIVersion),
			"It is a version, or a group and a version with a slash between, such as apps/v1."))
	}
	switch {
	case ref.Kind == "":
		errs = errs.Also(apis.ErrMissingField("kind"))
	case strings.ContainsAny(ref.Kind, "-_") || len(validation.IsDNS1035Label(strings.ToLower(ref.Kind))) > 0:
		errs = errs.Also(invalid("kind", fmt.Sprintf("invalid kind %q", ref.Kind),
			"It is the name of a kind, such as Deployment: a letter, then letters and digits, at most 63."))
	}
	return errs
}

func invalid(field, message, details string) *apis.FieldError {
	return &apis.FieldError{Message: message, Paths: []string{field}, Details: details}
}
