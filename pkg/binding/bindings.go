/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Bindings are the AddressBindings of a namespace that choose objects of one kind. Use Of. They may be used by several goroutines.
type Bindings struct {
	// choosers are ordered by age, oldest first: of those that want the same variable, the first one gets it.
	choosers []chooser
}

// chooser holds the selection and the variable of one binding.
type chooser struct {
	chooses func(metav1.Object) bool

	binding, variable string
	// value is empty if the binding is known to have no address: its variable is removed from objects.
	value string
	// pending means that the controller has not recorded yet what the binding wants of the kind: its variable stays as it is.
	pending bool
}

// Of returns the bindings that choose objects of a kind, at whatever API version. all are those of one namespace.
func Of(kind schema.GroupKind, all []*v1.AddressBinding) *Bindings {
	found := &Bindings{}
	for _, b := range slices.SortedFunc(slices.Values(all), older) {
		if b.DeletionTimestamp != nil || KindOf(b.Spec.Subject.APIVersion, b.Spec.Subject.Kind) != kind {
			continue
		}
		_, recorded := Recorded(b, kind)
		found.choosers = append(found.choosers, chooser{
			chooses: ChosenBy(&b.Spec.Subject), binding: b.Name, variable: b.Spec.Variable, value: b.Status.Value,
			pending: !recorded || b.Status.Value == "" && !b.Status.LacksAddress(),
		})
	}
	return found
}

func older(a, b *v1.AddressBinding) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// Recorded returns the entry of a kind in the status of a binding, if there is one: the controller has listed its objects, and may
// have marked some of them.
func Recorded(b *v1.AddressBinding, kind schema.GroupKind) (v1.SubjectKind, bool) {
	i := slices.IndexFunc(b.Status.Kinds, func(k v1.SubjectKind) bool { return KindOf(k.APIVersion, k.Kind) == kind })
	if i < 0 {
		return v1.SubjectKind{}, false
	}
	return b.Status.Kinds[i], true
}

// choosing returns, by variable, the bindings that choose an object, oldest first.
func (b *Bindings) choosing(object metav1.Object) map[string][]*chooser {
	found := map[string][]*chooser{}
	for i := range b.choosers {
		if c := &b.choosers[i]; c.chooses(object) {
			found[c.variable] = append(found[c.variable], c)
		}
	}
	return found
}

// leading returns the binding that has a variable, nil if none has an address.
func leading(choosers []*chooser) *chooser {
	for _, c := range choosers {
		if c.pending || c.value != "" {
			return c
		}
	}
	return nil
}

// ChosenBy reports whether a reference chooses an object of its kind and namespace: the one that it names, or those that its selector
// matches. An invalid selector, which admission rejects, chooses nothing. Use one for all objects, because it parses the selector.
func ChosenBy(subject *tracker.Reference) func(metav1.Object) bool {
	if subject.Name != "" {
		return func(object metav1.Object) bool { return object.GetName() == subject.Name }
	}
	selector, err := metav1.LabelSelectorAsSelector(subject.Selector)
	if err != nil {
		selector = labels.Nothing()
	}
	return func(object metav1.Object) bool { return selector.Matches(labels.Set(object.GetLabels())) }
}

// KindOf returns the kind that a reference means. The API version does not matter: every version has the same objects.
func KindOf(apiVersion, kind string) schema.GroupKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()
}

// Included reports whether the labels of a namespace or of an object in it opt in to bindings. The labels are those of
// knative.dev/pkg/webhook/psbinding, whose inclusion mode requires both to opt in.
func Included(namespace, object map[string]string) bool {
	return namespace[duck.BindingIncludeLabel] == "true" || object[duck.BindingIncludeLabel] == "true"
}

// Excluded reports whether the labels of a namespace or of an object in it opt out of bindings, which overrides that one of them
// opts in.
func Excluded(namespace, object map[string]string) bool {
	return namespace[duck.BindingExcludeLabel] == "true" || object[duck.BindingExcludeLabel] == "true"
}

// Controlled reports whether another object controls this one, and would revert what is changed in it.
func Controlled(object metav1.Object) bool { return metav1.GetControllerOf(object) != nil }
