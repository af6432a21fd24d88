/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"encoding/json"
	"fmt"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	duckv1alpha1 "github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

// containerName is the name of each Pod's only container, as Knative calls what is the user's.
const containerName = "user-container"

// revisionDigits is the number of digits of the hash of a revision in its label.
const revisionDigits = 16

// revisionOf identifies the template that Pods are created from. It is compared with the label that a Pod got, and not with the Pod's own
// containers: admission can change these, and such a Pod would always be outdated.
func revisionOf(sd *v1alpha1.SimpleDeployment) string {
	// Additions of a later operator to the template must not be hashed: an upgrade would restart every Pod.
	content, err := json.Marshal(struct {
		Image string                `json:"image"`
		Env   []duckv1alpha1.EnvVar `json:"env,omitempty"`
	}{sd.Spec.Image, environmentOf(sd)})
	if err != nil {
		// Text and lists of text have a JSON form.
		panic(fmt.Sprintf("writing a revision: %v", err))
	}
	return hashOf(content, revisionDigits)
}

func environmentOf(sd *v1alpha1.SimpleDeployment) []duckv1alpha1.EnvVar {
	if sd.Spec.Configurable == nil {
		return nil
	}
	return sd.Spec.Configurable.Env
}

// podFor is the Pod of a slot, as it is applied.
func podFor(sd *v1alpha1.SimpleDeployment, slot int) *corev1ac.PodApplyConfiguration {
	container := corev1ac.Container().WithName(containerName).WithImage(sd.Spec.Image)
	for _, v := range environmentOf(sd) {
		container.WithEnv(corev1ac.EnvVar().WithName(v.Name).WithValue(v.Value))
	}
	return corev1ac.Pod(nameOf(prefixOf(sd), slot), sd.Namespace).
		WithLabels(map[string]string{
			samples.PodOwnerUIDLabelKey:  string(sd.UID),
			samples.PodOwnerNameLabelKey: labelOf(sd.Name),
			samples.PodRevisionLabelKey:  revisionOf(sd),
		}).
		WithOwnerReferences(ownerReference(sd)).
		WithSpec(corev1ac.PodSpec().WithContainers(container))
}

// ownerReference has the garbage collector delete the Pod with its owner, and a foreground deletion wait for it.
func ownerReference(sd *v1alpha1.SimpleDeployment) *metav1ac.OwnerReferenceApplyConfiguration {
	gvk := sd.GetGroupVersionKind()
	return metav1ac.OwnerReference().
		WithAPIVersion(gvk.GroupVersion().String()).WithKind(gvk.Kind).WithName(sd.Name).WithUID(sd.UID).
		WithController(true).WithBlockOwnerDeletion(true)
}
