/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	fakekubeclient "knative.dev/pkg/client/injection/kube/client/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered/fake"
	filteredFactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	_ "knative.dev/pkg/client/injection/kube/informers/factory/filtered/fake"
	"knative.dev/pkg/configmap"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	fakesamplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client/fake"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1alpha1/simpledeployment/fake"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// run is a controller as NewController makes it, with its informers and workers, on fake clients: injection.Fake makes them.
func run(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t, func(ctx context.Context) context.Context {
		return filteredFactory.WithSelectors(ctx, samples.PodOwnerUIDLabelKey)
	})
	impl := NewController(ctx, configmap.NewStaticWatcher())
	reconcilertest.Run(ctx, t, cancel, informers, impl)
	return ctx
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
	setPod(ctx, t, podAt(0, podReady))
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
	setPod(ctx, t, podAt(0, podReady))
	becomesSo(ctx, t, "Ready", func(sd *v1alpha1.SimpleDeployment) bool {
		return sd.Status.GetCondition(v1alpha1.SimpleDeploymentConditionReady).IsTrue()
	})
	// An informer delivers no update without a new resourceVersion.
	setPod(ctx, t, podAt(0, podReady, withoutOwner, func(pod *corev1.Pod) { pod.ResourceVersion = "8" }))
	becomesSo(ctx, t, "one with another Pod that is made", func(sd *v1alpha1.SimpleDeployment) bool {
		return sd.Status.Replicas == 1 && sd.Status.ReadyReplicas == 0
	})
}
