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
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Bindings are the AddressBindings of a namespace that choose objects of one kind. Use Of. They may be used by several goroutines.
type Bindings struct {
	// choosers are ordered by age, oldest first: of those that want the same variable, the first one with a value gets it.
	choosers []chooser
	// names are those of all bindings of the namespace.
	names sets.Set[string]
}

// chooser holds the selection and the variable of one binding.
type chooser struct {
	chooses func(metav1.Object) bool

	binding, variable string
	// value is empty if the binding has no address, or cannot bind objects of the kind.
	value string
	// unknown means that the value is not known yet: the variables that the binding has written stay. unserved means that the binding cannot bind
	// objects of the kind: the variables that it has written stay while no other binding has a value.
	unknown, unserved bool
}

// Of returns the bindings that choose objects of a kind, at whatever API version: every version has the same objects. all are those of one namespace.
func Of(kind schema.GroupKind, all []*v1.AddressBinding) *Bindings {
	found := &Bindings{names: sets.New[string]()}
	for _, b := range slices.SortedFunc(slices.Values(all), older) {
		found.names.Insert(b.Name)
		if b.DeletionTimestamp != nil || b.Spec.Subject.GroupVersionKind().GroupKind() != kind {
			continue
		}
		c := chooser{chooses: ChosenBy(&b.Spec.Subject), binding: b.Name, variable: b.Spec.Variable}
		switch _, recorded := Recorded(b, kind); {
		case Unserved(b):
			c.unserved = true
		case !recorded || b.Status.Value == "" && !b.Status.LacksAddress():
			c.unknown = true
		default:
			c.value = b.Status.Value
		}
		found.choosers = append(found.choosers, c)
	}
	return found
}

// Unserved reports whether the cluster is known not to serve the kind of a binding at its version.
func Unserved(b *v1.AddressBinding) bool {
	return b.Status.GetCondition(v1.AddressBindingConditionSubjectsBound).GetReason() == v1.ReasonSubjectKindNotFound
}

func older(a, b *v1.AddressBinding) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// Recorded returns the entry of a kind in the status of a binding, if there is one: the controller has listed its objects, and may
// have marked some of them.
func Recorded(b *v1.AddressBinding, kind schema.GroupKind) (v1.SubjectKind, bool) {
	i := slices.IndexFunc(b.Status.Kinds, func(k v1.SubjectKind) bool {
		return schema.FromAPIVersionAndKind(k.APIVersion, k.Kind).GroupKind() == kind
	})
	if i < 0 {
		return v1.SubjectKind{}, false
	}
	return b.Status.Kinds[i], true
}

// claim has the bindings that determine the value of one variable of an object that they choose.
type claim struct {
	// leader is the binding that has the variable: the oldest one with an address, or nil.
	leader *chooser
	// keepers are the older bindings without an address for which the variable that they have written stays.
	keepers []*chooser
}

// claims returns the claims of the bindings on an object, by variable.
func (b *Bindings) claims(object metav1.Object) map[string]*claim {
	found := map[string]*claim{}
	for i := range b.choosers {
		c := &b.choosers[i]
		if !c.chooses(object) {
			continue
		}
		if found[c.variable] == nil {
			found[c.variable] = &claim{}
		}
		if v := found[c.variable]; v.leader == nil && c.value != "" {
			v.leader = c
		} else if v.leader == nil && (c.unknown || c.unserved) {
			v.keepers = append(v.keepers, c)
		}
	}
	return found
}

// keeps reports whether a variable that a binding has written stays as it is. If its writer was deleted, a keeper may have taken it over.
func (c *claim) keeps(writer string, exists bool) bool {
	return c != nil && slices.ContainsFunc(c.keepers, func(k *chooser) bool {
		return (k.unknown || c.leader == nil) && (k.binding == writer || c.leader == nil && !exists)
	})
}

// wanted returns the leader if it is the named binding, or if the name is empty.
func (c *claim) wanted(name string) *chooser {
	if c == nil || c.leader == nil || name != "" && name != c.leader.binding {
		return nil
	}
	return c.leader
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

// Included reports whether the labels of a namespace or of an object in it opt in to bindings. The labels are those of
// knative.dev/pkg/webhook/psbinding, whose inclusion mode requires both to opt in.
func Included(namespace, object map[string]string) bool {
	return namespace[duck.BindingIncludeLabel] == "true" || object[duck.BindingIncludeLabel] == "true"
}

// Excluded reports whether one of them opts out of bindings, which overrides Included.
func Excluded(namespace, object map[string]string) bool {
	return namespace[duck.BindingExcludeLabel] == "true" || object[duck.BindingExcludeLabel] == "true"
}

// Controlled reports whether another object controls this one, and would revert what is changed in it.
func Controlled(object metav1.Object) bool { return metav1.GetControllerOf(object) != nil }
