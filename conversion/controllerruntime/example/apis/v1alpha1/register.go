/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// AddToScheme adds the types of this package to a scheme.
var AddToScheme = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "gizmo.example.com", Version: "v1alpha1"}}).Register(&Gizmo{}).AddToScheme
