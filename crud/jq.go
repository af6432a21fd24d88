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

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// jqChange runs a program, which must return the object alone. Errors do not contain values of the object, which may be secret.
func jqChange(program string) change {
	return func(ctx context.Context, live *unstructured.Unstructured) (before, after map[string]any, err error) {
		results, err := child.Run(ctx, program, live.Object, nil, nil)
		switch {
		case err != nil:
		case len(results) == 0:
			err = errors.New("the jq program returned no value: it must return the object")
		case len(results) > 1:
			err = errors.New("the jq program returned several values: it must return the object alone")
		case results[0][0] != '{':
			var other any
			_ = json.Unmarshal(results[0], &other) // it is JSON
			err = fmt.Errorf("the jq program returned %s: it must return the object", gojq.TypeOf(other))
		default:
			err = utiljson.Unmarshal(results[0], &after)
		}
		return live.Object, after, err
	}
}
