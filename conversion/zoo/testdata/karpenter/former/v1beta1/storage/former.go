/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1storage "example.com/karpenter/v1/storage"
)

// formerKubelet is the annotation of objects at v1 in which former conversions kept the kubelet's configuration of v1beta1.
const formerKubelet = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"

// AssignPropertiesTo has nothing to read: v1beta1 has no annotations of former conversions.
func (in *NodeClaim) AssignPropertiesTo(*v1storage.NodeClaim) error { return nil }

// AssignPropertiesFrom reads the kubelet's configuration that former conversions kept.
func (in *NodeClaim) AssignPropertiesFrom(src *v1storage.NodeClaim) error {
	if kubelet := kubelet(&src.ObjectMeta); kubelet != nil {
		if in.Spec == nil {
			in.Spec = &NodeClaimSpec{}
		}
		in.Spec.Kubelet = kubelet
	}
	return nil
}

// AssignPropertiesTo has nothing to read, either.
func (in *NodePool) AssignPropertiesTo(*v1storage.NodePool) error { return nil }

// AssignPropertiesFrom does for the template what it does for a NodeClaim.
func (in *NodePool) AssignPropertiesFrom(src *v1storage.NodePool) error {
	if kubelet := kubelet(&src.ObjectMeta); kubelet != nil {
		if in.Spec == nil {
			in.Spec = &NodePoolSpec{}
		}
		if in.Spec.Template == nil {
			in.Spec.Template = &NodeClaimTemplate{}
		}
		if in.Spec.Template.Spec == nil {
			in.Spec.Template.Spec = &NodeClaimSpec{}
		}
		in.Spec.Template.Spec.Kubelet = kubelet
	}
	return nil
}

func kubelet(object *metav1.ObjectMeta) *KubeletConfiguration {
	var former *KubeletConfiguration
	if json.Unmarshal([]byte(object.Annotations[formerKubelet]), &former) != nil {
		return nil
	}
	return former
}
