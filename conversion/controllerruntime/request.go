/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

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
