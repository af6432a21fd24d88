/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrlconversion "sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

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

// requestOf returns the admission request of a context. It fails if the API server has converted the object for the webhook, as it does by
// matchPolicy: Equivalent, the default. A defaulting webhook of an older version would then undo what a newer one has changed.
func requestOf(ctx context.Context) (admission.Request, error) {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return request, fmt.Errorf("handling the annotation of conversions: %w", err)
	}
	if sent := request.RequestKind; sent != nil && *sent != request.Kind {
		return request, fmt.Errorf("the webhook of version %s received an object that was sent at version %s: "+
			"set matchPolicy: Exact in the webhook configuration, with a webhook for each version", request.Kind.Version, sent.Version)
	}
	return request, nil
}

// ConvertThrough converts an object to another version as controller-runtime's conversion webhook does: between two versions other than
// the hub, by way of an object of the hub. Tests convert with it without a webhook.
func ConvertThrough[T any, H hubOf[T]](_ context.Context, from, to metav1.Object) error {
	fromHub, isFromHub := from.(H)
	toHub, isToHub := to.(H)
	fromSpoke, isFromSpoke := from.(ctrlconversion.Convertible)
	toSpoke, isToSpoke := to.(ctrlconversion.Convertible)
	switch {
	case isFromHub && isToSpoke:
		return toSpoke.ConvertFrom(fromHub) //nolint:wrapcheck // it names both types
	case isFromSpoke && isToHub:
		return fromSpoke.ConvertTo(toHub) //nolint:wrapcheck // it names both types
	case isFromSpoke && isToSpoke:
		hub := H(new(T))
		if err := fromSpoke.ConvertTo(hub); err != nil {
			return err //nolint:wrapcheck // it names both types
		}
		return toSpoke.ConvertFrom(hub) //nolint:wrapcheck // it names both types
	default:
		const text = "converting %T to %T: one may be the hub, %T, and others must implement conversion.Convertible of controller-runtime"
		return fmt.Errorf(text, from, to, H(nil))
	}
}
