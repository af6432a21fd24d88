/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

// podsByOwner is the name of the index that finds the Pods of an object by their namespace and its UID, with which users can create Pods in
// other namespaces.
const podsByOwner = "simpleDeploymentUID"

func ownerOf(pod *corev1.Pod) []string {
	if ref, ok := controllerOf(pod); ok {
		return []string{pod.Namespace + "/" + string(ref.UID)}
	}
	return nil
}

// controllerOf returns the controller reference of a Pod that a SimpleDeployment controls, of whatever version.
func controllerOf(pod metav1.Object) (*metav1.OwnerReference, bool) {
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return nil, false
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	gvk := (*v1alpha1.SimpleDeployment)(nil).GetGroupVersionKind()
	return ref, err == nil && gv.Group == gvk.Group && ref.Kind == gvk.Kind
}

// owns reports whether a Pod is the object's: its controller reference and its label both name the object's UID. A Pod that
// loses one of them is released: it keeps running, no longer counts, and is replaced. A Pod in another namespace is never the
// object's, although any user can write a reference with this UID.
func owns(owner, pod metav1.Object) bool {
	ref, ok := controllerOf(pod)
	return ok && ref.UID == owner.GetUID() && pod.GetNamespace() == owner.GetNamespace() &&
		pod.GetLabels()[samples.PodOwnerUIDLabelKey] == string(owner.GetUID())
}
