/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/tracker"
)

// Choice is which objects a reference is to: the one that it names, or those that its selector matches. Use ChoiceOf, once for
// all objects, since it parses the selector. It may be used by several goroutines.
type Choice struct {
	kind     schema.GroupKind
	name     string
	selector labels.Selector
}

// ChoiceOf returns what a reference chooses. A selector that is none, which schemas refuse, chooses nothing.
func ChoiceOf(subject *tracker.Reference) Choice {
	selector, err := metav1.LabelSelectorAsSelector(subject.Selector)
	if err != nil {
		selector = labels.Nothing()
	}
	return Choice{kind: KindOf(subject.APIVersion, subject.Kind), name: subject.Name, selector: selector}
}

// Includes is whether an object of a kind is one of them, if it is of the namespace of the reference.
func (c *Choice) Includes(kind schema.GroupKind, object metav1.Object) bool {
	if c.kind != kind {
		return false
	}
	if c.name != "" {
		return c.name == object.GetName()
	}
	return c.selector.Matches(labels.Set(object.GetLabels()))
}

// KindOf is the kind that a reference means. Its version does not matter: it is the same objects.
func KindOf(apiVersion, kind string) schema.GroupKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()
}
