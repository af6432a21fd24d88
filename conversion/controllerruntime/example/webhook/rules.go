/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "example.com/gizmo/apis/v1"
)

// rules hold whichever version a Gizmo is written at.
type rules struct{}

// errNoPorts rejects a script without a port by which its result is observed.
var errNoPorts = errors.New("spec.ports: a Gizmo with a script needs a port")

// ValidateCreate implements admission.Validator.
func (rules) ValidateCreate(_ context.Context, gizmo *v1.Gizmo) (admission.Warnings, error) {
	if gizmo.Spec.Script != "" && len(gizmo.Spec.Ports) == 0 {
		return nil, errNoPorts
	}
	return nil, nil
}

// ValidateUpdate implements admission.Validator.
func (r rules) ValidateUpdate(ctx context.Context, _, gizmo *v1.Gizmo) (admission.Warnings, error) {
	return r.ValidateCreate(ctx, gizmo)
}

// ValidateDelete implements admission.Validator.
func (rules) ValidateDelete(context.Context, *v1.Gizmo) (admission.Warnings, error) { return nil, nil }
