/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// filterResult returns the result of the filter as JSON: null for none, and a list for several. It is null for an object for which it fails.
func (m *monitor) filterResult(ctx context.Context, u *unstructured.Unstructured) json.RawMessage {
	if m.JQFilter == "" {
		return nil
	}
	results, err := child.Run(ctx, m.JQFilter, u.Object, nil, nil)
	if err != nil {
		// It has no values of the object.
		m.logger.Errorw("The filter of a binding failed", "field", "jqFilter", "object", cache.MetaObjectToName(u).String(), "error", err)
	}
	switch len(results) {
	case 0:
		return json.RawMessage("null")
	case 1:
		return results[0]
	}
	list, _ := json.Marshal(results) // of JSON
	return list
}
