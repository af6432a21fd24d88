/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrlconversion "sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/mallard-dev/mallard/conversion"
)

// Defaulter is the admission.Defaulter of a defaulting webhook. In updates it keeps the annotation of the live object, whatever the client
// sent.
type Defaulter[T Object] struct {
	// Next sets the defaults of the kind. It is nil if the kind has none.
	Next admission.Defaulter[T]
}

// Default implements admission.Defaulter.
func (d *Defaulter[T]) Default(ctx context.Context, object T) error {
	request, err := requestOf(ctx)
	if err != nil {
		return err
	}
	if old := request.OldObject.Raw; len(old) > 0 && request.SubResource == "" {
		var live metav1.PartialObjectMetadata
		if err := json.Unmarshal(old, &live); err != nil {
			return fmt.Errorf("reading the metadata of the live object: %w", err)
		}
		object.ConversionAnnotation().Preserve(object, &live)
	}
	if d.Next == nil {
		return nil
	}
	return d.Next.Default(ctx, object) //nolint:wrapcheck // it is the answer to the client
}

// Validator is the admission.Validator of a validating webhook. It rejects writes through a representation that lacks properties, and
// warns about a new object with the annotation of another one. Objects that are being deleted are admitted: they have to lose their finalizers.
type Validator[T Object] struct {
	// Next validates what the annotation has no part in. It is nil if there is no such rule.
	Next admission.Validator[T]
	// Spokes are for the hub version: they create an empty object of each other version that is served, by the name of the version. An
	// object that one of them cannot represent is rejected, unless it could not represent the live object either.
	Spokes map[string]func() Spoke
}

// ValidateCreate implements admission.Validator.
func (v *Validator[T]) ValidateCreate(ctx context.Context, object T) (admission.Warnings, error) {
	warnings, err := v.validate(ctx, object, nil)
	if err != nil || v.Next == nil {
		return warnings, err
	}
	more, err := v.Next.ValidateCreate(ctx, object)
	return append(warnings, more...), err
}

// ValidateUpdate implements admission.Validator.
func (v *Validator[T]) ValidateUpdate(ctx context.Context, live, object T) (admission.Warnings, error) {
	warnings, err := v.validate(ctx, object, live)
	if err != nil || v.Next == nil {
		return warnings, err
	}
	more, err := v.Next.ValidateUpdate(ctx, live, object)
	return append(warnings, more...), err
}

// ValidateDelete implements admission.Validator.
func (v *Validator[T]) ValidateDelete(ctx context.Context, object T) (admission.Warnings, error) {
	if v.Next == nil {
		return nil, nil
	}
	return v.Next.ValidateDelete(ctx, object) //nolint:wrapcheck // it is the answer to the client
}

// validate returns the warnings about the annotation, and the errors as those of the API server.
func (v *Validator[T]) validate(ctx context.Context, object T, live metav1.Object) (warnings admission.Warnings, _ error) {
	request, err := requestOf(ctx)
	if err != nil || object.GetDeletionTimestamp() != nil {
		return nil, err
	}
	findings := object.ConversionAnnotation().Validate(object, live)
	if request.SubResource == "" {
		atSpokes, err := v.validateSpokes(object, live)
		if err != nil {
			return nil, err
		}
		findings = append(findings, atSpokes...)
	}
	var errs field.ErrorList
	for _, finding := range findings {
		path, text := field.NewPath(finding.Field), finding.Message+": "+finding.Details
		if finding.Warning {
			warnings = append(warnings, path.String()+": "+text)
		} else {
			errs = append(errs, field.Forbidden(path, text))
		}
	}
	if len(errs) > 0 {
		kind := object.GetObjectKind().GroupVersionKind().GroupKind()
		return warnings, apierrors.NewInvalid(kind, object.GetName(), errs) //nolint:wrapcheck // it is the answer to the client
	}
	return warnings, nil
}

func (v *Validator[T]) validateSpokes(object T, live metav1.Object) (findings []conversion.Finding, _ error) {
	for _, version := range slices.Sorted(maps.Keys(v.Spokes)) {
		found, err := v.validateSpoke(version, object)
		if err != nil {
			return nil, err
		}
		if live != nil && slices.ContainsFunc(found, rejects) {
			before, err := v.validateSpoke(version, live)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(before, rejects) {
				continue
			}
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

func (v *Validator[T]) validateSpoke(version string, object metav1.Object) ([]conversion.Finding, error) {
	hub, ok := object.(ctrlconversion.Hub)
	if !ok {
		return nil, fmt.Errorf("validating the representation at %s: %T is not the hub, so its Validator must have no Spokes", version, object)
	}
	spoke := v.Spokes[version]()
	if err := spoke.ConvertFrom(hub); err != nil {
		return nil, fmt.Errorf("converting the object to %s: %w", version, err)
	}
	return spoke.ConversionAnnotation().ValidateRepresentation(version, spoke), nil
}

func rejects(finding conversion.Finding) bool { return !finding.Warning }

// AtHub returns an admission.Validator for a version other than the hub, which validates the object that the hub will be. The content of the
// annotation is part of that object, so the rules of the hub apply to writes at every version.
func AtHub[S Spoke, T any, H hubOf[T]](rules admission.Validator[H]) admission.Validator[S] {
	return &atHub[S, T, H]{rules: rules}
}

type atHub[S Spoke, T any, H hubOf[T]] struct{ rules admission.Validator[H] }

func (v *atHub[S, T, H]) ValidateCreate(ctx context.Context, object S) (admission.Warnings, error) {
	return v.at(object, func(hub H) (admission.Warnings, error) { return v.rules.ValidateCreate(ctx, hub) })
}

func (v *atHub[S, T, H]) ValidateUpdate(ctx context.Context, live, object S) (admission.Warnings, error) {
	return v.at(live, func(liveHub H) (admission.Warnings, error) {
		return v.at(object, func(hub H) (admission.Warnings, error) { return v.rules.ValidateUpdate(ctx, liveHub, hub) })
	})
}

func (v *atHub[S, T, H]) ValidateDelete(ctx context.Context, object S) (admission.Warnings, error) {
	return v.at(object, func(hub H) (admission.Warnings, error) { return v.rules.ValidateDelete(ctx, hub) })
}

// at applies a rule to the object that the hub will be.
func (v *atHub[S, T, H]) at(object S, rule func(hub H) (admission.Warnings, error)) (admission.Warnings, error) {
	hub := H(new(T))
	if err := object.ConvertTo(hub); err != nil {
		return nil, fmt.Errorf("converting the object to %T: %w", hub, err)
	}
	return rule(hub)
}
