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
	source, target, err := convertible(from, to)
	if err != nil {
		return err
	}
	return source.ConvertTo(ctx, target) //nolint:wrapcheck // it names both types
}

// ConvertFrom converts an object by ConvertFrom of the object that it fills.
func ConvertFrom(ctx context.Context, from, to metav1.Object) error {
	source, target, err := convertible(from, to)
	if err != nil {
		return err
	}
	return target.ConvertFrom(ctx, source) //nolint:wrapcheck // it names both types
}

func convertible(from, to metav1.Object) (source, target apis.Convertible, err error) {
	source, isSource := from.(apis.Convertible)
	target, isTarget := to.(apis.Convertible)
	if !isSource || !isTarget {
		return nil, nil, fmt.Errorf("converting %T to %T: both must implement knative.dev/pkg/apis.Convertible", from, to)
	}
	return source, target, nil
}
