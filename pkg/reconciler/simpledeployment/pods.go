/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"knative.dev/pkg/kmeta"

	duckv1alpha1 "github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

const (
	// containerName is the name of each Pod's only container, as Knative calls the one of the user.
	containerName = "user-container"
	// podsByOwner is the name of the index that finds the Pods of an object by their namespace and the UID in their label.
	podsByOwner = "simpleDeploymentUID"
	// revisionDigits and uidDigits are the lengths of hashes: of a revision in a label, and of an object's UID in the names of its Pods.
	revisionDigits, uidDigits = 16, 10
)

// nameOf returns the name of the Pod in a slot. The UID distinguishes the Pods of an object from those of a deleted one of the same name.
// The host name of a Pod is its name unless that has dots.
func nameOf(sd *v1alpha1.SimpleDeployment, slot int) string {
	return kmeta.ChildName(strings.ReplaceAll(sd.Name, ".", "-"), "-"+samples.Hash(string(sd.UID), uidDigits)+"-"+strconv.Itoa(slot))
}

// freeName returns the name of the first slot that no Pod has, not even one that is terminating or finished. So a retry creates no second
// Pod, and processes whose caches differ choose names of the same few, of which the API server gives each once.
func freeName(sd *v1alpha1.SimpleDeployment, pods []*pod, taken map[string]bool) string {
	used := maps.Clone(taken)
	for _, p := range pods {
		used[p.name] = true
	}
	for slot := 0; ; slot++ {
		if name := nameOf(sd, slot); !used[name] {
			return name
		}
	}
}

func ownerOf(obj any) ([]string, error) {
	live := obj.(*corev1.Pod) //nolint:forcetypeassert // the cache holds nothing else
	return []string{live.Namespace + "/" + live.Labels[samples.PodOwnerUIDLabelKey]}, nil
}

// owns reports whether a Pod is the object's: its controller reference and its label both name the object's UID. A Pod that
// loses one of them is released: it keeps running, no longer counts, and is replaced. A Pod in another namespace is never the
// object's, although any user can write a reference with this UID.
func owns(sd *v1alpha1.SimpleDeployment, live *corev1.Pod) bool {
	return live.Namespace == sd.Namespace && live.Labels[samples.PodOwnerUIDLabelKey] == string(sd.UID) && metav1.IsControlledBy(live, sd)
}

// podOf returns the state of a Pod that a plan needs.
func (r *reconciliation) podOf(live *corev1.Pod) *pod {
	p := &pod{
		name: live.Name, uid: live.UID, version: live.ResourceVersion,
		current: live.Labels[samples.PodRevisionLabelKey] == revisionOf(r.sd), created: live.CreationTimestamp.Time,
	}
	switch {
	case live.DeletionTimestamp != nil:
		p.class, p.ended = terminating, live.DeletionTimestamp.Time
	case live.Status.Phase == corev1.PodFailed || live.Status.Phase == corev1.PodSucceeded:
		p.class, p.ended = finished, p.created
		for _, c := range live.Status.Conditions {
			// The clock of a node may be ahead of ours.
			if t := c.LastTransitionTime.Time; t.After(p.ended) && !t.After(r.clock.Now()) {
				p.ended = t
			}
		}
	default:
		for _, c := range live.Status.Conditions {
			p.ready = p.ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}
	}
	return p
}

// podFor returns the Pod with a name, as it is created.
func podFor(sd *v1alpha1.SimpleDeployment, name string) *corev1.Pod {
	container := corev1.Container{Name: containerName, Image: sd.Spec.Image}
	for _, v := range environmentOf(sd) {
		container.Env = append(container.Env, corev1.EnvVar{Name: v.Name, Value: v.Value})
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sd.Namespace,
			Name:      name,
			Labels: map[string]string{
				samples.PodOwnerUIDLabelKey:  string(sd.UID),
				samples.PodOwnerNameLabelKey: kmeta.ChildName(sd.Name, ""),
				samples.PodRevisionLabelKey:  revisionOf(sd),
			},
			// The garbage collector deletes the Pod with its owner, and a foreground deletion waits for it.
			OwnerReferences: []metav1.OwnerReference{*kmeta.NewControllerRef(sd)},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{container}},
	}
}

// revisionOf identifies the template that Pods are created from. It is compared with the label that a Pod got, and not with the Pod's own
// containers: admission can change these, and such a Pod would always be outdated.
func revisionOf(sd *v1alpha1.SimpleDeployment) string {
	// Additions of a later operator to the template must not be hashed: an upgrade would restart every Pod.
	content, _ := json.Marshal(struct { //nolint:errchkjson // text and lists of text have a JSON form
		Image string                `json:"image"`
		Env   []duckv1alpha1.EnvVar `json:"env,omitempty"`
	}{sd.Spec.Image, environmentOf(sd)})
	return samples.Hash(string(content), revisionDigits)
}

func environmentOf(sd *v1alpha1.SimpleDeployment) []duckv1alpha1.EnvVar {
	return ptr.Deref(sd.Spec.Configurable, duckv1alpha1.Configurable{}).Env
}
