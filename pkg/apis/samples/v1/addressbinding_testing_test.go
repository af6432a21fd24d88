/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/tracker"
)

// newBinding returns a binding as a user creates it, in namespace ns with name a, of AddressableService hello to Deployment d.
func newBinding(modifiers ...func(*AddressBinding)) *AddressBinding {
	ab := &AddressBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"},
		Spec: AddressBindingSpec{
			Subject: tracker.Reference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"},
			Address: AddressReference{Name: "hello"},
		},
	}
	for _, modify := range modifiers {
		modify(ab)
	}
	return ab
}

// complete defaults a binding as admission does.
func complete(ab *AddressBinding) {
	ab.Spec.Subject.Namespace = "ns"
	ab.Finalizers = append(ab.Finalizers, "samples.knative.dev/addressbinding")
}

func withSubject(change func(*tracker.Reference)) func(*AddressBinding) {
	return func(ab *AddressBinding) { change(&ab.Spec.Subject) }
}

func bySelector(selector metav1.LabelSelector) func(*AddressBinding) {
	return withSubject(func(ref *tracker.Reference) { ref.Name, ref.Selector = "", &selector })
}

func bindingBeingDeleted(ab *AddressBinding) {
	now := metav1.Now()
	ab.DeletionTimestamp = &now
}

func withBindingFinalizers(finalizers ...string) func(*AddressBinding) {
	return func(ab *AddressBinding) { ab.Finalizers = finalizers }
}
