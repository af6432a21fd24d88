/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"knative.dev/pkg/apis/duck"
)

// Included is whether an object may be bound, by the labels of its namespace and its own. One of them has to opt in by
// bindings.knative.dev/include=true, and neither may opt out by bindings.knative.dev/exclude=true; other values
// mean nothing. The labels are those of knative.dev/pkg/webhook/psbinding, whose inclusion mode wants both to opt in.
func Included(namespace, object map[string]string) bool {
	return (namespace[duck.BindingIncludeLabel] == "true" || object[duck.BindingIncludeLabel] == "true") &&
		!Excluded(namespace) && !Excluded(object)
}

// Excluded is whether the labels of a namespace or of an object opt out, against which no other label helps.
func Excluded(labels map[string]string) bool {
	return labels[duck.BindingExcludeLabel] == "true"
}
