/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Condition checks an object, which is nil if it does not exist, and returns an error that describes how it differs from the desired state.
type Condition func(*unstructured.Unstructured) error

// Exists is the condition of an object that exists.
func Exists(o *unstructured.Unstructured) error {
	if o == nil {
		return errors.New("it does not exist")
	}
	return nil
}

// Deleted is the condition of an object that does not exist.
func Deleted(o *unstructured.Unstructured) error {
	if o != nil {
		return errors.New("it exists")
	}
	return nil
}

// Ready is the condition of an object whose Ready condition is True for its present generation.
func Ready(o *unstructured.Unstructured) error { return HasCondition("Ready", "True", "")(o) }

// HasCondition is the condition of an object with an entry in status.conditions of this type and status, for its present
// generation, and with this reason unless that is empty.
func HasCondition(kind, status, reason string) Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		observed, found, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		if found && observed != o.GetGeneration() {
			return fmt.Errorf("its status is of generation %d, and it is at %d", observed, o.GetGeneration())
		}
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, entry := range list {
			c, _ := entry.(map[string]any)
			if c["type"] != kind {
				continue
			}
			if c["status"] != status || reason != "" && c["reason"] != reason {
				return fmt.Errorf("its condition %s is %v, reason %v: %v", kind, c["status"], c["reason"], c["message"])
			}
			return nil
		}
		return fmt.Errorf("it has no condition %s", kind)
	}
}
