/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Defaulter is the admission.Defaulter of a defaulting webhook. In updates it keeps the annotation of the live object, whatever the client
// sent.
type Defaulter[T Object] struct {
	// Next sets the defaults of the kind. It is nil if the kind has none.
	Next admission.Defaulter[T]
}

// Default implements admission.Defaulter.
func (d *Defaulter[T]) Default(ctx context.Context, object T) error {
	request, err := requestOf(ctx)
	if err != nil {
		return err
	}
	if old := request.OldObject.Raw; len(old) > 0 && request.SubResource == "" {
		var live metav1.PartialObjectMetadata
		if err := json.Unmarshal(old, &live); err != nil {
			return fmt.Errorf("reading the metadata of the live object: %w", err)
		}
		object.ConversionAnnotation().Preserve(object, &live)
	}
	if d.Next == nil {
		return nil
	}
	return d.Next.Default(ctx, object) //nolint:wrapcheck // it is the answer to the client
}
