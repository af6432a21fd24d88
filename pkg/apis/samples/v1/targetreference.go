/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersionKind is the target's kind as apimachinery writes it. An apiVersion
// that cannot be parsed, which the schema refuses, gives an empty group and the
// whole string as version, so that the kind is not found.
func (r TargetReference) GroupVersionKind() schema.GroupVersionKind {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return schema.GroupVersionKind{Version: r.APIVersion, Kind: r.Kind}
	}
	return gv.WithKind(r.Kind)
}

// GroupKind is GroupVersionKind without the version.
func (r TargetReference) GroupKind() schema.GroupKind {
	return r.GroupVersionKind().GroupKind()
}

// NamespaceOr returns the target's namespace, which is the given one, the
// namespace of the object that holds the reference, when it is left out.
func (r TargetReference) NamespaceOr(namespace string) string {
	if r.Namespace == "" {
		return namespace
	}
	return r.Namespace
}

// String names the target for messages: Kind.group namespace/name.
func (r TargetReference) String() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %s", r.GroupKind(), r.Name)
	}
	return fmt.Sprintf("%s %s/%s", r.GroupKind(), r.Namespace, r.Name)
}
