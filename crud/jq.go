/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/crud/internal/jq"
)

// jqTimeout bounds the run of a program for one object.
const jqTimeout = time.Second

// jqLimit is about how many bytes a program may return: those of the largest request that the API server accepts.
const jqLimit = 3 << 20

// jqChange compiles a program. It has no access to files, to environment variables or to other inputs.
func jqChange(program string) (change, error) {
	code, err := jq.Compile(program)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, live *unstructured.Unstructured) (before, after map[string]any, err error) {
		err = guarded(func() (err error) {
			after, err = runJQ(ctx, code, runtime.DeepCopyJSON(live.Object))
			return err
		})
		return live.Object, after, err
	}, nil
}

// runJQ returns the single object that a program returns. Errors do not contain values of the object, which may be secret.
func runJQ(ctx context.Context, code *gojq.Code, input map[string]any) (map[string]any, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, jqTimeout, fmt.Errorf("the jq program ran for %v", jqTimeout))
	defer cancel()
	iter := code.RunWithContext(ctx, input)
	result, ok := iter.Next()
	if !ok {
		return nil, errors.New("the jq program returned no value: it must return the object")
	}
	if err, ok := result.(error); ok {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, jq.Error(err)
	}
	if _, more := iter.Next(); more {
		return nil, errors.New("the jq program returned several values: it must return the object alone")
	}
	object, ok := result.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the jq program returned %s: it must return the object", gojq.TypeOf(result))
	}
	room := jqLimit
	after, err := fromJQ(object, &room)
	if err != nil {
		return nil, err
	}
	fields, _ := after.(map[string]any) // as object
	return fields, nil
}

// fromJQ returns a result as unstructured objects hold it: gojq takes their int64, and returns int. The result shares nothing with the value,
// since a program may return the same part of its input twice. A program that nests a value into itself therefore returns little and describes
// much: room is what is left of the limit.
func fromJQ(value any, room *int) (any, error) {
	*room--
	if text, ok := value.(string); ok {
		*room -= len(text)
	}
	if *room < 0 {
		return nil, fmt.Errorf("the jq program returned more than %d bytes, which is more than the API server accepts", jqLimit)
	}
	switch value := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(value))
		for key, field := range value {
			converted, err := fromJQ(field, room)
			if err != nil {
				return nil, err
			}
			*room -= len(key)
			object[key] = converted
		}
		return object, nil
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			converted, err := fromJQ(item, room)
			if err != nil {
				return nil, err
			}
			items[i] = converted
		}
		return items, nil
	case int:
		return int64(value), nil
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, errors.New("the jq program returned a number that JSON does not have")
		}
	case *big.Int:
		return nil, errors.New("the jq program returned an integer of more than 64 bits")
	case json.Number:
		return nil, errors.New("the jq program returned a number that it did not compute")
	}
	return value, nil
}
