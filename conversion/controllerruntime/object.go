/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrlconversion "sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/mallard-dev/mallard/conversion"
)

// Object is implemented by the API types that assign-gen generates conversions for with --interface=controller-runtime.
type Object interface {
	runtime.Object
	metav1.Object
	// ConversionAnnotation returns the annotation that holds what the version cannot show.
	ConversionAnnotation() conversion.Annotation
}

// Spoke is an Object of any version but the hub.
type Spoke interface {
	Object
	ctrlconversion.Convertible
}

// hubOf is a pointer to an API type that is the hub.
type hubOf[T any] interface {
	*T
	ctrlconversion.Hub
}
