/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package knative

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
)

// ConvertTo converts an object by its own ConvertTo.
func ConvertTo(ctx context.Context, from, to metav1.Object) error {
	return convert(from, to, func(source, target apis.Convertible) error { return source.ConvertTo(ctx, target) })
}

// ConvertFrom converts an object by ConvertFrom of the object that it fills.
func ConvertFrom(ctx context.Context, from, to metav1.Object) error {
	return convert(from, to, func(source, target apis.Convertible) error { return target.ConvertFrom(ctx, source) })
}

func convert(from, to metav1.Object, by func(source, target apis.Convertible) error) error {
	source, isSource := from.(apis.Convertible)
	target, isTarget := to.(apis.Convertible)
	if !isSource || !isTarget {
		return fmt.Errorf("converting %T to %T: both must implement knative.dev/pkg/apis.Convertible", from, to)
	}
	return by(source, target)
}
