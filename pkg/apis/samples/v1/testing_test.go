/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// newObject returns an object as a user creates it, in namespace ns with name a,
// referring to Service target.
func newObject(modifiers ...func(*AddressableService)) *AddressableService {
	as := &AddressableService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"},
		Spec: AddressableServiceSpec{
			Ref: TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"},
		},
	}
	for _, modify := range modifiers {
		modify(as)
	}
	return as
}

func withClass(class string) func(*AddressableService) {
	return func(as *AddressableService) {
		metav1.SetMetaDataAnnotation(&as.ObjectMeta, samples.ClassAnnotationKey, class)
	}
}

func withVisibility(v Visibility) func(*AddressableService) {
	return func(as *AddressableService) { as.Spec.Visibility = v }
}

func withFinalizers(finalizers ...string) func(*AddressableService) {
	return func(as *AddressableService) { as.Finalizers = finalizers }
}

func withRef(apiVersion, kind, namespace, name string) func(*AddressableService) {
	return func(as *AddressableService) {
		as.Spec.Ref = TargetReference{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
	}
}

func withLabel(key, value string) func(*AddressableService) {
	return func(as *AddressableService) { metav1.SetMetaDataLabel(&as.ObjectMeta, key, value) }
}

func beingDeleted(as *AddressableService) {
	as.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func addressesOf(hosts ...string) []duckv1.Addressable {
	addresses := make([]duckv1.Addressable, 0, len(hosts))
	for _, host := range hosts {
		addresses = append(addresses, duckv1.Addressable{URL: apis.HTTP(host)})
	}
	return addresses
}
