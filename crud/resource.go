/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"k8s.io/apimachinery/pkg/api/meta"
)

// Resource returns the resource with which the API server serves the kind of a reference; it finds the kind as operations do. The name may be empty.
func (c *Client) Resource(ref Ref) (*meta.RESTMapping, error) {
	found, err := c.kinds.find(ref, anyKind)
	if err != nil {
		return nil, err
	}
	mapping := &meta.RESTMapping{Resource: found.gvr(), GroupVersionKind: found.GroupVersionKind, Scope: meta.RESTScopeRoot}
	if found.namespaced {
		mapping.Scope = meta.RESTScopeNamespace
	}
	return mapping, nil
}
