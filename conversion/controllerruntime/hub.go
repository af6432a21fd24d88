/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// AtHub returns an admission.Validator for a version other than the hub, which validates the object that the hub will be. The content of the
// annotation is part of that object, so the rules of the hub apply to writes at every version.
func AtHub[S Spoke, T any, H hubOf[T]](rules admission.Validator[H]) admission.Validator[S] {
	return &atHub[S, T, H]{rules: rules}
}

type atHub[S Spoke, T any, H hubOf[T]] struct{ rules admission.Validator[H] }

func (v *atHub[S, T, H]) ValidateCreate(ctx context.Context, object S) (admission.Warnings, error) {
	hub, err := v.hub(object)
	if err != nil {
		return nil, err
	}
	return v.rules.ValidateCreate(ctx, hub) //nolint:wrapcheck // it is the answer to the client
}

func (v *atHub[S, T, H]) ValidateUpdate(ctx context.Context, live, object S) (admission.Warnings, error) {
	liveHub, err := v.hub(live)
	if err != nil {
		return nil, err
	}
	hub, err := v.hub(object)
	if err != nil {
		return nil, err
	}
	return v.rules.ValidateUpdate(ctx, liveHub, hub) //nolint:wrapcheck // it is the answer to the client
}

func (v *atHub[S, T, H]) ValidateDelete(ctx context.Context, object S) (admission.Warnings, error) {
	hub, err := v.hub(object)
	if err != nil {
		return nil, err
	}
	return v.rules.ValidateDelete(ctx, hub) //nolint:wrapcheck // it is the answer to the client
}

func (v *atHub[S, T, H]) hub(object S) (H, error) {
	hub := H(new(T))
	if err := object.ConvertTo(hub); err != nil {
		return nil, fmt.Errorf("converting the object to %T: %w", hub, err)
	}
	return hub, nil
}
