/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

const (
	// mostLate is the time by which a cache may be late, and longestEnd that which a terminating Pod takes. Together they are shorter than
	// the time after which a Pod is taken for one that hangs.
	mostLate, longestEnd = 4 * time.Second, 4 * time.Second
)

// faulty is a world in which processes reconcile whose watches are late, and whose API server fails.
type faulty struct {
	*world
	*rand.Rand

	t         *testing.T
	sd        *v1alpha1.SimpleDeployment
	processes []*process
	// faults reports whether requests may fail.
	faults bool
	users  bool
	// lasting are the Pods that keep their names although others may have their places: users have taken the label from them, or they have
	// ended and their deletion was rejected.
	lasting map[types.UID]bool
}

// process is a process that reconciles.
type process struct {
	pods       cache.Indexer
	reconciler controller.Reconciler
	// late are the changes that the cache does not have yet.
	late []change
}

type change struct {
	name string
	pod  *corev1.Pod
	at   time.Time
}

// TestReconcile_RandomFaults_KeepsTheBoundsAndConverges has reconciliations take place while requests are rejected or lose their answer, the
// process dies, and the spec changes. The bounds are looked at on the server with each request. The cache is late, but
// has the writes of the process itself.
func TestReconcile_RandomFaults_KeepsTheBoundsAndConverges(t *testing.T) {
	atRandom(t, 1, false)
}

// TestReconcile_SeveralProcesses_DoubleNoPod has up to three processes reconcile the same object, each with a cache that is late by some
// seconds and lacks the writes of the process, too, while users delete Pods and take labels from them. A change that a cache lacks may cost a
// ready Pod, as with every controller, but there is never one too many.
func TestReconcile_SeveralProcesses_DoubleNoPod(t *testing.T) {
	atRandom(t, 3, true)
}

func atRandom(t *testing.T, processes int, users bool) {
	t.Helper()
	source := testrand.Source(t)
	for i := range testrand.Inputs(t) {
		r := rand.New(rand.NewSource(source.Int63()))
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			f := newFaulty(t, r, 1+r.Intn(processes), users)
			f.faults = true
			for range 60 {
				f.step()
			}
			f.faults = false
			f.arrives()
		})
	}
}

func newFaulty(t *testing.T, r *rand.Rand, processes int, users bool) *faulty {
	t.Helper()
	f := &faulty{t: t, Rand: r, users: users, sd: object(int32(r.Intn(5))), lasting: map[types.UID]bool{}}
	f.world = newWorld(t, f.sd)
	for range processes {
		f.processes = append(f.processes, &process{})
		f.restart(f.processes[len(f.processes)-1])
	}
	f.server.changed = func(name string, pod *corev1.Pod) {
		for _, p := range f.processes {
			p.late = append(p.late, change{name, pod, f.clock.Now()})
		}
	}
	f.kube.PrependReactor("*", "pods", f.answer)
	return f
}

func (f *faulty) step() {
	p := f.processes[f.Intn(len(f.processes))]
	switch f.Intn(10) {
	case 0:
		f.respecify()
	case 1:
		f.restart(p)
	}
	f.happens()
	for _, p := range f.processes {
		// With one process the changes but those of the kubelet are its own.
		for len(p.late) > 0 && (f.Intn(3) > 0 || !f.users || f.clock.Since(p.late[0].at) > mostLate) {
			f.deliver(p)
		}
	}
	f.reconcileOnce(p)
	f.clock.SetTime(f.clock.Now().Add(time.Second))
}

// respecify changes the spec.
func (f *faulty) respecify() {
	f.sd = f.sd.DeepCopy()
	f.sd.Generation++
	if f.Intn(2) == 0 {
		f.sd.Spec.Replicas = int32(f.Intn(5))
	} else {
		f.sd.Spec.Image = strconv.Itoa(f.Intn(3))
	}
	if err := f.objects.Update(f.sd); err != nil {
		f.t.Fatal(err)
	}
	if err := f.samples.Tracker().Update(v1alpha1.SchemeGroupVersion.WithResource("simpledeployments"), f.sd, ns); err != nil {
		f.t.Fatal(err)
	}
}

// restart replaces a process by one that lists the Pods.
func (f *faulty) restart(p *process) {
	*p = process{pods: newPodCache()}
	for _, pod := range f.server.pods {
		if _, ok := pod.Labels[samples.PodOwnerUIDLabelKey]; ok {
			if err := p.pods.Add(pod.DeepCopy()); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	p.reconciler = f.start(f.t, p.pods)
}

// happens changes Pods and spec as kubelets and users may.
func (f *faulty) happens() {
	for name, pod := range f.server.pods {
		pod = pod.DeepCopy()
		switch {
		case pod.DeletionTimestamp != nil && (f.Intn(2) == 0 || f.clock.Since(pod.DeletionTimestamp.Time) > longestEnd):
			f.server.remove(name)
		case pod.DeletionTimestamp == nil && f.Intn(3) == 0:
			podReady(pod)
			f.server.put(pod)
		case pod.DeletionTimestamp == nil && f.users:
			f.meddle(pod)
		}
	}
}

// meddle changes a Pod as a user may.
func (f *faulty) meddle(pod *corev1.Pod) {
	switch f.Intn(20) {
	case 0:
		f.server.remove(pod.Name)
	case 1:
		pod.DeletionTimestamp = &metav1.Time{Time: f.clock.Now()}
		f.server.put(pod)
	case 2:
		podPhase(corev1.PodFailed, epoch.Sub(f.clock.Now()))(pod)
		f.server.put(pod)
	case 3:
		f.lasting[pod.UID] = true
		unlabeled(pod)
		f.server.put(pod)
	}
}

// deliver brings one change into the cache, as a watch with our selector does.
func (f *faulty) deliver(p *process) {
	c := p.late[0]
	p.late = p.late[1:]
	if c.pod != nil && c.pod.Labels[samples.PodOwnerUIDLabelKey] != "" {
		if err := p.pods.Update(c.pod); err != nil {
			f.t.Fatal(err)
		}
		return
	}
	obj, exists, err := p.pods.GetByKey(ns + "/" + c.name)
	if err != nil {
		f.t.Fatal(err)
	}
	if !exists {
		return
	}
	if err := p.pods.Delete(obj); err != nil {
		f.t.Fatal(err)
	}
}

func (f *faulty) reconcileOnce(p *process) {
	// How it ends does not matter; the queue repeats it.
	_ = p.reconciler.Reconcile(logging.WithLogger(f.t.Context(), zap.NewNop().Sugar()), ns+"/a")
}

// answer lets requests fail, before or after they were carried out, and looks at the bounds.
func (f *faulty) answer(action clientgotesting.Action) (bool, runtime.Object, error) {
	if deletion, ok := action.(clientgotesting.DeleteActionImpl); f.faults && f.Intn(8) == 0 {
		// Before a deletion is rejected, the Pod is looked up.
		pod := f.server.pods[deletion.Name]
		if ok && pod == nil {
			return true, nil, apierrors.NewNotFound(corev1.Resource("pods"), deletion.Name)
		}
		if ok {
			f.lasting[pod.UID] = true
		}
		return true, nil, errQuota
	}
	if f.faults && f.Intn(8) == 0 {
		return true, nil, reconcilertest.ErrInduced
	}
	before := f.truth()
	_, answer, err := f.server.react(action)
	after, asked := f.truth(), int(f.sd.Spec.Replicas)
	if creation, ok := action.(clientgotesting.CreateActionImpl); ok && err == nil {
		f.checkCreation(creation.Object.(*corev1.Pod).Name, before, after, asked)
	} else if !f.users && after.ready < before.ready && after.ready < asked {
		f.t.Fatalf("%d Pods are ready, %d are desired, and %d were ready before", after.ready, asked, before.ready)
	}
	if f.faults && f.Intn(8) == 0 {
		return true, nil, reconcilertest.ErrInduced
	}
	return true, answer, err
}

// checkCreation fails if there may be a Pod too many: one that has another name than those that so many Pods need.
func (f *faulty) checkCreation(name string, before, after counts, asked int) {
	names := map[string]bool{}
	for slot := range asked + surge + len(f.lasting) {
		names[podName(slot)] = true
	}
	// Those that are left over when fewer are desired have other names.
	left := 0
	for other, pod := range f.server.pods {
		if owns(f.sd, pod) && f.podOf(pod).class == active && !names[other] {
			left++
		}
	}
	if !names[name] || after.active > asked+surge+len(f.lasting)+left || len(f.lasting)+left == 0 && after.active > asked+surge {
		f.t.Fatalf("Pod %s is created; %d Pods are active, %d are desired, and %d were active before: %+v", name, after.active, asked, before.active, f.describe())
	}
}

func (f *faulty) podOf(live *corev1.Pod) *pod {
	return (&reconciliation{Reconciler: &Reconciler{clock: f.clock}, sd: f.sd}).podOf(live)
}

// truth returns the object's Pods on the server.
func (f *faulty) truth() counts {
	var pods []*pod
	for _, live := range f.server.pods {
		if owns(f.sd, live) {
			pods = append(pods, f.podOf(live))
		}
	}
	return count(pods)
}

// ended counts the object's Pods that are left although they have ended or are being deleted.
func (f *faulty) ended() int {
	n := 0
	for _, live := range f.server.pods {
		if owns(f.sd, live) {
			n++
		}
	}
	return n - f.truth().active
}

// describe are the Pods on the server, for people.
func (f *faulty) describe() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f.server.pods)) {
		pod := f.server.pods[name]
		fmt.Fprintf(&text, "\n%s %s image=%s ready=%t terminating=%t labeled=%t", name, pod.Status.Phase, pod.Spec.Containers[0].Image,
			len(pod.Status.Conditions) > 0, pod.DeletionTimestamp != nil, pod.Labels[samples.PodOwnerUIDLabelKey] != "")
	}
	return text.String()
}

// arrives lets all Pods become ready, and nothing else happen.
func (f *faulty) arrives() {
	f.t.Helper()
	const enough = 100
	want := counts{int(f.sd.Spec.Replicas), int(f.sd.Spec.Replicas), int(f.sd.Spec.Replicas)}
	for range enough {
		f.clock.SetTime(f.clock.Now().Add(time.Second))
		for name, pod := range f.server.pods {
			pod = pod.DeepCopy()
			if pod.DeletionTimestamp != nil {
				f.server.remove(name)
			} else if pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == "" {
				podReady(pod)
				f.server.put(pod)
			}
		}
		f.kube.ClearActions()
		for _, p := range f.processes {
			for len(p.late) > 0 {
				f.deliver(p)
			}
			f.reconcileOnce(p)
		}
		if len(f.kube.Actions()) == 0 && f.truth() == want && f.ended() == 0 {
			return
		}
	}
	f.t.Fatalf("after %d reconciliations there are %+v, want %+v: %+v", enough, f.truth(), want, f.describe())
}
