/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

func TestMain(m *testing.M) { harness.Main(m) }

// object is a manifest of a SimpleDeployment.
func object(name, image string, replicas int) string {
	return fmt.Sprintf("apiVersion: samples.knative.dev/v1alpha1\nkind: SimpleDeployment\nmetadata: {name: %q}\nspec: {image: %q, replicas: %d}\n", name, image, replicas)
}

// deploy applies a SimpleDeployment and waits until it is Ready.
func deploy(t *testing.T, env *harness.Env, ns, image string, replicas int) harness.Ref {
	t.Helper()
	ref := env.Apply(t, ns, object("it", image, replicas))[0]
	env.Await(t, ref, harness.Ready)
	return ref
}

// change changes the spec.
func change(t *testing.T, env *harness.Env, ref harness.Ref, spec string) {
	t.Helper()
	env.Patch(t, ref, `{"spec": `+spec+`}`)
}

func podRef(ns, name string) harness.Ref {
	return harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("pods"), Namespace: ns, Name: name}
}

// state are the Pods of a namespace at one moment.
type state map[string]*corev1.Pod

// active are those that an object controls and that have its label, are not being deleted and have not ended.
func (s state) active(owner string) []*corev1.Pod {
	var found []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(s)) {
		pod := s[name]
		ref := metav1.GetControllerOf(pod)
		if ref != nil && string(ref.UID) == owner && pod.Labels[samples.PodOwnerUIDLabelKey] == owner && pod.DeletionTimestamp == nil &&
			pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
			found = append(found, pod)
		}
	}
	return found
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (s state) String() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		pod := s[name]
		fmt.Fprintf(&text, "\n%s %s image=%s ready=%t terminating=%t", name, pod.Status.Phase, pod.Spec.Containers[0].Image, ready(pod), pod.DeletionTimestamp != nil)
	}
	return text.String()
}

// pods reads the Pods of a namespace, and a version from which a watch shows what comes after.
func pods(t *testing.T, env *harness.Env, ns string) (state, string) {
	t.Helper()
	list, err := env.Kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing the Pods: %v", err)
	}
	s := state{}
	for i := range list.Items {
		s[list.Items[i].Name] = &list.Items[i]
	}
	return s, list.ResourceVersion
}

// throughout looks at every state that the Pods of a namespace have had from just before during until just after it.
func throughout(t *testing.T, env *harness.Env, ns string, holds func(state) error, during func()) {
	t.Helper()
	now, version := pods(t, env, ns)
	during()
	end, _ := pods(t, env, ns)
	events, err := env.Kube.CoreV1().Pods(ns).Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		t.Fatalf("watching the Pods from before: %v", err)
	}
	defer events.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Deadline)
	defer cancel()
	for changes := 0; ; changes++ {
		if err := holds(now); err != nil {
			t.Fatalf("after %d changes: %v%v", changes, err, now)
		}
		if maps.EqualFunc(now, end, func(a, b *corev1.Pod) bool { return a.ResourceVersion == b.ResourceVersion }) {
			t.Logf("the Pods were looked at after each of %d changes", changes)
			return
		}
		select {
		case event := <-events.ResultChan():
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				t.Fatalf("watching the Pods from before: %v", event.Object)
			}
			if event.Type == watch.Deleted {
				delete(now, pod.Name)
			} else {
				now[pod.Name] = pod
			}
		case <-ctx.Done():
			t.Fatalf("watching the Pods from before: their last state did not show up within %v", harness.Deadline)
		}
	}
}

// within holds as long as an object has no more active Pods and no fewer ready ones than said.
func within(owner string, mostActive, leastReady int) func(state) error {
	return func(s state) error {
		active := s.active(owner)
		readyOnes := 0
		for _, pod := range active {
			if ready(pod) {
				readyOnes++
			}
		}
		if len(active) > mostActive {
			return fmt.Errorf("there are %d Pods, which is more than %d", len(active), mostActive)
		}
		if readyOnes < leastReady {
			return fmt.Errorf("%d Pods are ready, which is fewer than %d", readyOnes, leastReady)
		}
		return nil
	}
}

// uid is the UID of an object.
func uid(t *testing.T, env *harness.Env, ref harness.Ref) string {
	t.Helper()
	return string(env.Await(t, ref, harness.Exists).GetUID())
}

// exactly fails unless an object has so many Pods, each of this image and ready, and its status says so.
func exactly(t *testing.T, env *harness.Env, ref harness.Ref, image string, replicas int) {
	t.Helper()
	o := env.Await(t, ref, harness.Ready)
	s, _ := pods(t, env, ref.Namespace)
	active := s.active(string(o.GetUID()))
	for _, pod := range active {
		if pod.Spec.Containers[0].Image != image || !ready(pod) {
			t.Errorf("Pod %s is of image %s, ready: %t; want image %s", pod.Name, pod.Spec.Containers[0].Image, ready(pod), image)
		}
	}
	status := harness.As[v1alpha1.SimpleDeployment](t, o).Status
	if n := int32(replicas); len(active) != replicas || status.Replicas != n || status.UpdatedReplicas != n || status.ReadyReplicas != n {
		t.Errorf("there are %d Pods, and the status counts %d, %d and %d; want %d of each%v", len(active), status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, replicas, s)
	}
}

// settles waits until an object is Ready and its status counts what there is.
func settles(t *testing.T, env *harness.Env, ref harness.Ref) {
	t.Helper()
	harness.Eventually(t, "a status that counts what there is", func(context.Context) error {
		o := env.Await(t, ref, harness.Ready)
		s, _ := pods(t, env, ref.Namespace)
		counted := harness.As[v1alpha1.SimpleDeployment](t, o).Status.ReadyReplicas
		if active := s.active(string(o.GetUID())); len(active) != int(counted) {
			return fmt.Errorf("the status counts %d:%v", counted, s)
		}
		return nil
	})
}

// onePod is the name of an object's only Pod.
func onePod(t *testing.T, env *harness.Env, ref harness.Ref) string {
	t.Helper()
	s, _ := pods(t, env, ref.Namespace)
	active := s.active(uid(t, env, ref))
	if len(active) != 1 {
		t.Fatalf("there are %d Pods, want one%v", len(active), s)
	}
	return active[0].Name
}

// says is the condition of an object that is not Ready for this reason, with this in the message.
func says(reason, text string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if err := harness.HasCondition("Ready", "False", reason)(o); err != nil {
			return err
		}
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		if !strings.Contains(fmt.Sprint(list), text) {
			return fmt.Errorf("none of its conditions says %q: %v", text, list)
		}
		return nil
	}
}
