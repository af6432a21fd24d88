/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import "context"

// SetDefaults implements apis.Defaultable. What is left out of a spec, the schema completes.
func (*SimpleDeployment) SetDefaults(context.Context) {}
