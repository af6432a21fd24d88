/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	expiring "k8s.io/apimachinery/pkg/util/cache"
	fakekube "k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	testclock "k8s.io/utils/clock/testing"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"

	duckv1alpha1 "github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	fakesamples "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/fake"
	simpledeploymentreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1alpha1/simpledeployment"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// The objects of these tests: SimpleDeployment ns/a of image one, and its Pods.
const (
	ns    = "ns"
	owner = types.UID("uid-a")
)

// mod changes a SimpleDeployment that a test starts from.
type mod func(*v1alpha1.SimpleDeployment)

func object(replicas int32, mods ...mod) *v1alpha1.SimpleDeployment {
	sd := &v1alpha1.SimpleDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a", UID: owner, Generation: 1, ResourceVersion: "1"},
		Spec:       v1alpha1.SimpleDeploymentSpec{Image: "one", Replicas: replicas},
	}
	for _, m := range mods {
		m(sd)
	}
	return sd
}

func image(name string) mod { return func(sd *v1alpha1.SimpleDeployment) { sd.Spec.Image = name } }

func variable(name, value string) mod {
	return func(sd *v1alpha1.SimpleDeployment) {
		if sd.Spec.Configurable == nil {
			sd.Spec.Configurable = &duckv1alpha1.Configurable{}
		}
		sd.Spec.Configurable.Env = append(sd.Spec.Configurable.Env, duckv1alpha1.EnvVar{Name: name, Value: value})
	}
}

type mark = func(*v1alpha1.SimpleDeploymentStatus)

// status returns the status after a reconciliation that counts so many Pods and makes these marks.
func status(active, current, ready int32, marks ...mark) mod {
	return func(sd *v1alpha1.SimpleDeployment) {
		sd.Status = v1alpha1.SimpleDeploymentStatus{
			Replicas: active, UpdatedReplicas: current, ReadyReplicas: ready,
			Selector: "samples.knative.dev/simpledeployment-uid=uid-a",
		}
		sd.GetConditionSet().Manage(&sd.Status).InitializeConditions()
		sd.Status.ObservedGeneration = sd.Generation
		for _, m := range marks {
			m(&sd.Status)
		}
	}
}

var (
	available mark = (*v1alpha1.SimpleDeploymentStatus).MarkAvailable
	upToDate  mark = (*v1alpha1.SimpleDeploymentStatus).MarkUpToDate
)

func waiting(ready, replicas int) mark {
	return func(s *v1alpha1.SimpleDeploymentStatus) {
		s.MarkNotAvailable(v1alpha1.ReasonWaitingForPods, fmt.Sprintf("%d of %d Pods are ready", ready, replicas))
	}
}

func progressing(reason, message string) mark {
	return func(s *v1alpha1.SimpleDeploymentStatus) { s.MarkProgressing(reason, message) }
}

func stuck(reason, message string) mark {
	return func(s *v1alpha1.SimpleDeploymentStatus) { s.MarkStuck(reason, message) }
}

// podName is the name of the Pod in a slot.
func podName(slot int) string { return nameOf(object(0), slot) }

// podAt is the object's Pod in a slot as the API server has it, made of image one: not ready, and the older the lower the slot is.
func podAt(slot int, mods ...func(*corev1.Pod)) *corev1.Pod {
	sd := object(0)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: podName(slot), UID: types.UID("pod-" + strconv.Itoa(slot)), ResourceVersion: "7",
			CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(slot-100) * time.Minute)),
			OwnerReferences:   []metav1.OwnerReference{*kmeta.NewControllerRef(sd)},
			Labels:            map[string]string{samples.PodOwnerUIDLabelKey: string(sd.UID), samples.PodRevisionLabelKey: revisionOf(sd)},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, m := range mods {
		m(pod)
	}
	return pod
}

func podReady(pod *corev1.Pod) {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func podOf(mods ...mod) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[samples.PodRevisionLabelKey] = revisionOf(object(0, mods...)) }
}

func podTerminating(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: epoch} }

// podPhase is a Pod in a phase, in which it has been so long.
func podPhase(phase corev1.PodPhase, ago time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Phase = phase
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(epoch.Add(-ago)),
		}}
	}
}

func withoutOwner(pod *corev1.Pod) { pod.OwnerReferences = nil }

func ownedBy(apiVersion, kind string, uid types.UID) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		controls := true
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "a", UID: uid, Controller: &controls}}
	}
}

func unlabeled(pod *corev1.Pod) { delete(pod.Labels, samples.PodOwnerUIDLabelKey) }

func mislabeled(pod *corev1.Pod) { pod.Labels[samples.PodOwnerUIDLabelKey] = "other" }

// world is everything that a reconciliation sees and writes to.
type world struct {
	samples  *fakesamples.Clientset
	kube     *fakekube.Clientset
	server   *server
	objects  cache.Indexer
	pods     cache.Indexer
	clock    *testclock.FakePassiveClock
	recorder *record.FakeRecorder
	// reconciler is the generated one.
	reconciler controller.Reconciler
}

// newWorld makes a world in which these SimpleDeployments and Pods exist, in the caches and on the server.
func newWorld(t testing.TB, objs ...runtime.Object) *world {
	t.Helper()
	w := &world{
		objects:  reconcilertest.Indexer(nil),
		pods:     newPodCache(),
		clock:    testclock.NewFakePassiveClock(epoch),
		recorder: record.NewFakeRecorder(1000),
	}
	var ours []runtime.Object
	var live []*corev1.Pod
	for _, obj := range objs {
		var err error
		switch obj := obj.(type) {
		case *v1alpha1.SimpleDeployment:
			ours = append(ours, obj)
			err = w.objects.Add(obj)
		case *corev1.Pod:
			live = append(live, obj)
			if _, ok := obj.Labels[samples.PodOwnerUIDLabelKey]; ok {
				err = w.pods.Add(obj)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.samples = fakesamples.NewSimpleClientset(ours...)
	w.samples.PrependReactor("update", "simpledeployments/status",
		reconcilertest.StatusOnly(w.samples.Tracker(), func(to, from *v1alpha1.SimpleDeployment) { to.Status = from.Status }))
	w.server = newServer(func() metav1.Time { return metav1.NewTime(w.clock.Now()) }, live...)
	w.kube = w.server.client()
	w.reconciler = w.start(t, w.pods)
	return w
}

// newPodCache returns an empty cache of Pods like that of the informer.
func newPodCache() cache.Indexer { return reconcilertest.Indexer(cache.Indexers{podsByOwner: ownerOf}) }

// start makes a reconciler with a cache of Pods, as a process does that begins.
func (w *world) start(t testing.TB, pods cache.Indexer) controller.Reconciler {
	t.Helper()
	ctx := logtesting.TestContextWithLogger(t)
	generated := simpledeploymentreconciler.NewReconciler(ctx, logging.FromContext(ctx), w.samples, listers.NewSimpleDeploymentLister(w.objects),
		w.recorder, &Reconciler{kube: w.kube, clock: w.clock, pods: pods, doomed: expiring.NewExpiring()}, controller.Options{})
	reconcilertest.Promote(t, generated, nil)
	return generated
}

func (w *world) reconcile(ctx context.Context) error { return w.reconciler.Reconcile(ctx, ns+"/a") }

// observe returns the object's Pods as a reconciliation sees them in the cache.
func (w *world) observe(t *testing.T) []*pod {
	t.Helper()
	r := reconciling(object(1))
	r.Reconciler.pods = w.pods
	r.observe()
	return r.pods
}

// reconciling is a reconciliation of an object at the time of these tests.
func reconciling(sd *v1alpha1.SimpleDeployment) *reconciliation {
	return &reconciliation{Reconciler: &Reconciler{clock: testclock.NewFakePassiveClock(epoch)}, sd: sd, replicas: int(sd.Spec.Replicas)}
}

// created is the request that makes the Pod of a slot.
func created(sd *v1alpha1.SimpleDeployment, slot int) runtime.Object {
	return podFor(sd, podName(slot))
}

func deleted(slot int) clientgotesting.DeleteActionImpl {
	return clientgotesting.NewDeleteAction(corev1.SchemeGroupVersion.WithResource("pods"), ns, podName(slot))
}
