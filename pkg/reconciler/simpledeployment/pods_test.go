/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	duckv1alpha1 "github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

func named(name string, uid types.UID) *v1alpha1.SimpleDeployment {
	return &v1alpha1.SimpleDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: uid}}
}

func TestPodNames_AnyObjectName_AreValid(t *testing.T) {
	r := rand.New(testrand.Source(t))
	longest := strings.Repeat("a", 253)
	names := []string{"a", "0", "a.b", "a-b", longest, strings.Repeat("a.", 126) + "b", strings.Repeat("a", 44) + "--b", strings.Repeat("a-", 60) + "b"}
	for range testrand.Inputs(t) {
		names = append(names, randomName(r))
	}
	labels, pods := map[string]string{}, map[string]bool{}
	for _, name := range names {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			t.Fatalf("%q is no name of an object: %v", name, problems)
		}
		label := podFor(named(name, "uid"), "pod").Labels[samples.PodOwnerNameLabelKey]
		if problems := validation.IsValidLabelValue(label); len(problems) > 0 {
			t.Errorf("the Pods of %q have the label %q: %v", name, label, problems)
		}
		if other, ok := labels[label]; len(name) <= validation.LabelValueMaxLength && label != name || ok && other != name {
			t.Errorf("the Pods of %q have the label %q", name, label)
		}
		labels[label] = name
		sd := named(name, uuid.NewUUID())
		for _, slot := range []int{0, 9, 1000, 999999} {
			pod := nameOf(sd, slot)
			// Which is what a host name has to be as well.
			if problems := validation.IsDNS1123Label(pod); len(problems) > 0 {
				t.Errorf("the Pods of %q are called %q: %v", name, pod, problems)
			}
			if pods[pod] {
				t.Errorf("two Pods are called %q", pod)
			}
			pods[pod] = true
		}
	}
}

// randomName is a legal name of an object.
func randomName(r *rand.Rand) string {
	const letters, all = "abcz019", "abcz019-"
	var labels []string
	for range 1 + r.Intn(5) {
		var label strings.Builder
		label.WriteByte(letters[r.Intn(len(letters))])
		for range r.Intn(40) {
			label.WriteByte(all[r.Intn(len(all))])
		}
		label.WriteByte(letters[r.Intn(len(letters))])
		labels = append(labels, label.String())
	}
	return strings.Join(labels, ".")
}

func TestPodNames_ObjectsWithACommonPrefix_Differ(t *testing.T) {
	long := strings.Repeat("a", 200)
	seen := map[string]string{}
	for _, sd := range []*v1alpha1.SimpleDeployment{
		named("a.b", "1"), named("a-b", "2"), named(long+"b", "3"), named(long+"c", "4"),
		// The object was deleted and made again, and Pods of the first are still terminating.
		named("a", "5"), named("a", "6"),
	} {
		name := nameOf(sd, 0)
		if other, ok := seen[name]; ok {
			t.Errorf("%s (UID %s) has the Pods' names of %s: %s", sd.Name, sd.UID, other, name)
		}
		seen[name] = sd.Name
	}
}

func TestFreeName_SlotsAreUsedOrTaken_TheFirstOtherIsFree(t *testing.T) {
	sd := named("a", "1")
	at := func(slot int, mods ...func(*pod)) *pod {
		made := p(slot, mods...)
		made.name = nameOf(sd, slot)
		return made
	}
	for name, tc := range map[string]struct {
		pods  []*pod
		taken []int
		want  int
	}{
		"none":                     {want: 0},
		"a gap":                    {pods: []*pod{at(0), at(2)}, want: 1},
		"terminating and finished": {pods: []*pod{at(0, goingSince(0)), at(1, endedAgo(0))}, want: 2},
		"taken":                    {pods: []*pod{at(1)}, taken: []int{0, 2}, want: 3},
		"a name that is not ours":  {pods: []*pod{p(0)}, want: 0},
	} {
		taken := map[string]bool{}
		for _, slot := range tc.taken {
			taken[nameOf(sd, slot)] = true
		}
		if got := freeName(sd, tc.pods, taken); got != nameOf(sd, tc.want) || len(taken) != len(tc.taken) {
			t.Errorf("%s: name %s, want that of slot %d", name, got, tc.want)
		}
	}
}

func TestTemplate_Pod_DependsOnTheSpecOnly(t *testing.T) {
	sd := object(1, variable("A", "1"), variable("B", ""))
	want := `{
		"metadata": {
			"name": "a-` + samples.Hash(string(owner), uidDigits) + `-3", "namespace": "ns",
			"labels": {
				"samples.knative.dev/simpledeployment": "a",
				"samples.knative.dev/simpledeployment-uid": "uid-a",
				"samples.knative.dev/simpledeployment-revision": "` + revisionOf(sd) + `"
			},
			"ownerReferences": [{
				"apiVersion": "samples.knative.dev/v1alpha1", "kind": "SimpleDeployment", "name": "a", "uid": "uid-a",
				"controller": true, "blockOwnerDeletion": true
			}]
		},
		"spec": {"containers": [{"name": "user-container", "image": "one", "env": [{"name": "A", "value": "1"}, {"name": "B"}], "resources": {}}]},
		"status": {}
	}`
	content, err := json.Marshal(podFor(sd, nameOf(sd, 3)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parsed(t, want), parsed(t, string(content))); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func parsed(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestTemplate_Revision_ChangesWithTheTemplate(t *testing.T) {
	same := []*v1alpha1.SimpleDeployment{
		object(1), object(5),
		object(1, func(sd *v1alpha1.SimpleDeployment) { sd.Generation, sd.Labels = 9, map[string]string{"a": "b"} }),
		object(1, func(sd *v1alpha1.SimpleDeployment) { sd.Spec.Configurable = &duckv1alpha1.Configurable{} }),
	}
	for i, sd := range same {
		if got := revisionOf(sd); got != revisionOf(object(1)) {
			t.Errorf("number %d has revision %s: it would be rolled out though its Pods are the same", i, got)
		}
	}
	// The labels that an earlier operator wrote: a newer one must not replace its Pods.
	if got, want := revisionOf(object(1)), "92c35803e08cb14b"; got != want {
		t.Errorf("the revision of image one is %s, want %s", got, want)
	}
	seen := map[string]int{}
	for i, sd := range []*v1alpha1.SimpleDeployment{
		object(1), object(1, image("two")), object(1, variable("A", "1")), object(1, variable("A", "2")), object(1, variable("B", "1")),
		object(1, variable("A", "1"), variable("B", "1")), object(1, variable("B", "1"), variable("A", "1")),
	} {
		if other, ok := seen[revisionOf(sd)]; ok {
			t.Errorf("numbers %d and %d have the same revision", other, i)
		}
		seen[revisionOf(sd)] = i
	}
}

func podCondition(name corev1.PodConditionType, status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: name, Status: status})
	}
}

func TestObserve_Pods_AreCounted(t *testing.T) {
	type mods = []func(*corev1.Pod)
	for name, tc := range map[string]struct {
		reason string
		mods   mods
		class  class
		ready  bool
	}{
		"running": {reason: "Nothing says that it is ready.", class: active},
		"pending": {reason: "It is about to run.", mods: mods{podPhase(corev1.PodPending, 0)}, class: active},
		"lost":    {reason: "Its node says nothing, and may run it still.", mods: mods{podPhase(corev1.PodUnknown, 0)}, class: active},
		"ready":   {reason: "It says so.", mods: mods{podReady}, class: active, ready: true},
		"not ready": {
			reason: "A gate of it is closed, though its containers are ready.",
			mods:   mods{podCondition(corev1.PodReady, corev1.ConditionFalse), podCondition(corev1.ContainersReady, corev1.ConditionTrue)}, class: active,
		},
		"failed":                  {reason: "It will not start again.", mods: mods{podPhase(corev1.PodFailed, time.Minute)}, class: finished},
		"succeeded":               {reason: "Nor will this.", mods: mods{podPhase(corev1.PodSucceeded, time.Minute)}, class: finished},
		"terminating":             {reason: "It does not count as desired.", mods: mods{podReady, podTerminating}, class: terminating},
		"ended while terminating": {reason: "It is already being deleted.", mods: mods{podPhase(corev1.PodSucceeded, time.Minute), podTerminating}, class: terminating},
	} {
		t.Run(name, func(t *testing.T) {
			got := reconciling(object(1)).podOf(podAt(0, tc.mods...))
			if got.class != tc.class || got.ready != tc.ready {
				t.Errorf("it is of class %d, ready: %t; want class %d, ready: %t\nReason: %s", got.class, got.ready, tc.class, tc.ready, tc.reason)
			}
		})
	}
}

// The index has them in another order each time.
func TestObserve_Pods_AreSortedByName(t *testing.T) {
	var objs []runtime.Object
	for slot := range 9 {
		objs = append(objs, podAt(slot))
	}
	w := newWorld(t, objs...)
	for range 10 {
		for slot, pod := range w.observe(t) {
			if pod.name != podName(slot) {
				t.Fatalf("at place %d is %s", slot, pod.name)
			}
		}
	}
}

// Any user can write a reference with the UID of an object in another namespace.
func TestObserve_PodOfAnotherNamespaceClaimsTheOwner_IsNotFound(t *testing.T) {
	w := newWorld(t, podAt(0), podAt(1, func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }))
	if found := w.observe(t); len(found) != 1 || found[0].name != podName(0) {
		t.Errorf("the object's Pods are %v, want the one of its namespace", found)
	}
}

// The clock of a node may differ from ours in either direction.
func TestPodOf_TimesOfAWrongClock_HoldTheTerminatedPodForNoLongerThanItsAge(t *testing.T) {
	created := epoch.Add(-time.Minute)
	for name, tc := range map[string]struct{ at, want time.Time }{
		"right":  {epoch.Add(-time.Second), epoch.Add(-time.Second)},
		"ahead":  {epoch.Add(time.Hour), created},
		"behind": {epoch.Add(-time.Hour), created},
	} {
		got := reconciling(object(1)).podOf(podAt(0, func(pod *corev1.Pod) {
			pod.CreationTimestamp = metav1.NewTime(created)
			pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, LastTransitionTime: metav1.NewTime(tc.at)}}}
		}))
		if !got.ended.Equal(tc.want) {
			t.Errorf("%s: it ended at %v, want %v", name, got.ended, tc.want)
		}
	}
}
