/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"context"

	"knative.dev/pkg/apis"
)

// Validate implements apis.Validatable. Every rule of a SimpleDeployment is in its schema.
func (*SimpleDeployment) Validate(context.Context) *apis.FieldError { return nil }
