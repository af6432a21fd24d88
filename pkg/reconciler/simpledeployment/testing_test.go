/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fakekube "k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	testclock "k8s.io/utils/clock/testing"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/expectations"
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
func podName(slot int) string { return nameOf(prefixOf(object(0)), slot) }

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

// podPhase is a Pod in a phase, which the process has first seen in it so long ago.
func podPhase(phase corev1.PodPhase, ago time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Phase = phase
		pod.Annotations = map[string]string{firstSeen: epoch.Add(-ago).Format(time.RFC3339Nano)}
	}
}

// firstSeen is an annotation of the Pods of these tests; see podPhase.
const firstSeen = "test/first-seen"

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
	inner    *Reconciler

	// reconciler is the generated one around inner.
	reconciler controller.Reconciler
}

// newWorld makes a world in which these SimpleDeployments and Pods exist, in the caches and on the server.
func newWorld(t testing.TB, objs ...runtime.Object) *world {
	t.Helper()
	w := &world{
		objects:  simpleDeployments.NewIndexer(),
		pods:     pods.NewIndexer(),
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
	w.start(t)
	ended := map[types.UID]ending{}
	for _, pod := range live {
		if at, err := time.Parse(time.RFC3339Nano, pod.Annotations[firstSeen]); err == nil {
			ended[pod.UID] = ending{first: at}
		}
	}
	w.inner.memories.of(owner).ended = ended
	return w
}

// start makes a reconciler, as a process does that begins.
func (w *world) start(t testing.TB) {
	t.Helper()
	w.inner = newReconciler(w.kube, w.clock, observe.NewLister[*corev1.Pod](w.pods))
	ctx := logtesting.TestContextWithLogger(t)
	generated := simpledeploymentreconciler.NewReconciler(ctx, logging.FromContext(ctx), w.samples,
		listers.NewSimpleDeploymentLister(w.objects), w.recorder, w.inner, controller.Options{})
	reconcilertest.Promote(t, generated, nil)
	w.reconciler = &upToDateOnly{Reconciler: generated, world: w}
}

// upToDateOnly postpones reconciliations as package observe does.
type upToDateOnly struct {
	controller.Reconciler

	world *world
}

func (u *upToDateOnly) Reconcile(ctx context.Context, key string) error {
	obj, _, err := u.world.objects.GetByKey(key)
	if sd, ok := obj.(*v1alpha1.SimpleDeployment); err == nil && ok && u.world.inner.expectations.Behind(sd) {
		return controller.NewRequeueAfter(expectations.Patience)
	}
	return u.Reconciler.Reconcile(ctx, key)
}

func (w *world) reconcile(ctx context.Context) error { return w.reconciler.Reconcile(ctx, ns+"/a") }

// applied is the request that makes the Pod of a slot.
func applied(sd *v1alpha1.SimpleDeployment, slot int) clientgotesting.PatchActionImpl {
	return patch(podName(slot), podFor(sd, slot).WithResourceVersion(absent))
}

func patch(name string, content any) clientgotesting.PatchActionImpl {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return clientgotesting.NewPatchAction(corev1.SchemeGroupVersion.WithResource("pods"), ns, name, types.ApplyPatchType, text)
}

func deleted(slot int) clientgotesting.DeleteActionImpl {
	return clientgotesting.NewDeleteAction(corev1.SchemeGroupVersion.WithResource("pods"), ns, podName(slot))
}
