/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// filterTimeout bounds the run of a filter for one object.
const filterTimeout = time.Second

// filterResult returns the result of the filter as JSON: null for none, and a list for several. It is null for an object for which it fails.
func (m *monitor) filterResult(u *unstructured.Unstructured) json.RawMessage {
	if m.filter == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), filterTimeout)
	defer cancel()
	encoded, err := filtered(ctx, m.filter, runtime.DeepCopyJSON(u.Object))
	if err != nil {
		// The error may have values of the object.
		m.logger.Errorw("The filter of a binding failed", "field", "jqFilter", "object", cache.MetaObjectToName(u).String())
		return json.RawMessage("null")
	}
	return encoded
}

func filtered(ctx context.Context, filter *gojq.Code, input any) (json.RawMessage, error) {
	var results []any
	iter := filter.RunWithContext(ctx, input)
	for {
		result, ok := iter.Next()
		if !ok {
			break
		}
		if err, ok := result.(error); ok {
			return nil, fmt.Errorf("running the filter: %w", err)
		}
		results = append(results, result)
	}
	var result any
	switch len(results) {
	case 0:
	case 1:
		result = results[0]
	default:
		result = results
	}
	encoded, err := gojq.Marshal(result)
	if err != nil {
		return nil, errors.New("the filter returned what JSON does not have")
	}
	return encoded, nil
}
