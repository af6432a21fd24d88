/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlconversion "sigs.k8s.io/controller-runtime/pkg/conversion"
)

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
