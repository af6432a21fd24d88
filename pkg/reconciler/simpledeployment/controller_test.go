/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgotesting "k8s.io/client-go/testing"

	fakekubeclient "knative.dev/pkg/client/injection/kube/client/fake"
	"knative.dev/pkg/configmap"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	fakesamplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client/fake"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1alpha1/simpledeployment/fake"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// run is a controller as NewController makes it, with its informers and workers, on fake clients: injection.Fake makes them.
func run(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	fakekubeclient.Get(ctx).PrependReactor("patch", "pods", applyTo(ctx))
	impl := NewController(ctx, configmap.NewStaticWatcher())
	reconcilertest.Run(ctx, t, cancel, informers, impl)
	return ctx
}

// applyTo makes the Pods that are applied, which the fake that is injected does only for what exists.
func applyTo(ctx context.Context) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		patch, ok := action.(clientgotesting.PatchAction)
		if !ok {
			return false, nil, nil
		}
		pod := &corev1.Pod{}
		if err := json.Unmarshal(patch.GetPatch(), pod); err != nil {
			return true, nil, err
		}
		pod.UID, pod.ResourceVersion = "made", ""
		return true, pod, fakekubeclient.Get(ctx).Tracker().Create(action.GetResource(), pod, pod.Namespace)
	}
}

// becomesSo waits until the object's status is as wanted.
func becomesSo(ctx context.Context, t *testing.T, what string, wanted func(*v1alpha1.SimpleDeployment) bool) {
	t.Helper()
	var last *v1alpha1.SimpleDeployment
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(ctx context.Context) (bool, error) {
		var err error
		last, err = fakesamplesclient.Get(ctx).SamplesV1alpha1().SimpleDeployments(ns).Get(ctx, "a", metav1.GetOptions{})
		return err == nil && wanted(last), err
	})
	if err != nil {
		t.Fatalf("it does not become %s: %v; its status is %+v", what, err, last.Status)
	}
}

// setPod makes a Pod, or writes a new state of it, as a kubelet or a user does. Fakes count no versions.
func setPod(ctx context.Context, t *testing.T, pod *corev1.Pod) {
	t.Helper()
	pods := fakekubeclient.Get(ctx).CoreV1().Pods(ns)
	_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestController_PodChanges_Reconciles(t *testing.T) {
	ctx := run(t)
	if _, err := fakesamplesclient.Get(ctx).SamplesV1alpha1().SimpleDeployments(ns).Create(ctx, object(1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	becomesSo(ctx, t, "one with a Pod that is made", func(sd *v1alpha1.SimpleDeployment) bool {
		return sd.Status.Replicas == 1 && sd.Status.ReadyReplicas == 0
	})
	setPod(ctx, t, podAt(0, podReady, func(pod *corev1.Pod) { pod.UID = "made" }))
	becomesSo(ctx, t, "Ready", func(sd *v1alpha1.SimpleDeployment) bool {
		return sd.Status.GetCondition(v1alpha1.SimpleDeploymentConditionReady).IsTrue()
	})
	if err := fakekubeclient.Get(ctx).CoreV1().Pods(ns).Delete(ctx, podName(0), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	becomesSo(ctx, t, "one whose Pod is made again", func(sd *v1alpha1.SimpleDeployment) bool {
		return sd.Status.Replicas == 1 && sd.Status.ReadyReplicas == 0
	})
}

func TestController_PodLosesItsControllerReference_IsReplaced(t *testing.T) {
	ctx := run(t)
	if _, err := fakesamplesclient.Get(ctx).SamplesV1alpha1().SimpleDeployments(ns).Create(ctx, object(1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	becomesSo(ctx, t, "one with a Pod that is made", func(sd *v1alpha1.SimpleDeployment) bool { return sd.Status.Replicas == 1 })
	setPod(ctx, t, podAt(0, podReady, func(pod *corev1.Pod) { pod.UID = "made" }))
	becomesSo(ctx, t, "Ready", func(sd *v1alpha1.SimpleDeployment) bool {
		return sd.Status.GetCondition(v1alpha1.SimpleDeploymentConditionReady).IsTrue()
	})
	// An informer delivers no update without a new resourceVersion.
	setPod(ctx, t, podAt(0, podReady, withoutOwner, func(pod *corev1.Pod) { pod.UID, pod.ResourceVersion = "made", "8" }))
	becomesSo(ctx, t, "one with another Pod that is made", func(sd *v1alpha1.SimpleDeployment) bool {
		return sd.Status.Replicas == 1 && sd.Status.ReadyReplicas == 0
	})
}

func TestCache_Pods_HoldOnlyTheFieldsInUse(t *testing.T) {
	ctx := run(t)
	full := podAt(0, podReady, podPhase(corev1.PodFailed, time.Minute))
	full.Annotations = map[string]string{"a": "b"}
	full.Labels["app"] = "x"
	full.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	full.Spec.Containers = []corev1.Container{{Name: containerName, Image: "one"}}
	setPod(ctx, t, full)
	var kept *corev1.Pod
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(ctx context.Context) (bool, error) {
		if found := pods.Lister(ctx).List(nil); len(found) > 0 {
			kept = found[0]
		}
		return kept != nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept.Annotations != nil || kept.ManagedFields != nil || len(kept.Spec.Containers) > 0 || len(kept.Labels) != 2 {
		t.Errorf("the cache has %+v", kept)
	}
	p := &reconciliation{sd: object(1), prefix: prefixOf(object(1)), revision: revisionOf(object(1))}
	if got, want := p.podOf(kept), p.podOf(full); got != want {
		t.Errorf("of what is kept a reconciliation sees %+v, of the Pod itself %+v", got, want)
	}
}

func TestForget_ObjectIsDeleted_ItsMemoryIsForgotten(t *testing.T) {
	var m memories
	known := m.of(owner)
	if m.of(owner) != known {
		t.Error("the memory is another one each time")
	}
	m.forget(owner)
	if m.of(owner) == known {
		t.Error("the memory of a deleted object is kept")
	}
}

func TestMemory_PodEnded_FirstSightCounts(t *testing.T) {
	end := func(uid types.UID) pod { return pod{uid: uid, class: finished} }
	var m memory
	m.see([]pod{end("a"), {uid: "b"}}, epoch)
	later := epoch.Add(time.Second)
	seen := []pod{end("a"), end("b")}
	m.see(seen, later)
	if !seen[0].ending.first.Equal(epoch) || !seen[1].ending.first.Equal(later) {
		t.Errorf("they ended at %s and %s, want when they were first seen so", seen[0].ending.first, seen[1].ending.first)
	}
	m.see(nil, later)
	if len(m.ended) > 0 {
		t.Errorf("deleted Pods are remembered: %v", m.ended)
	}
}
