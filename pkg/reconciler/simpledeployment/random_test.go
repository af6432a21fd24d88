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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// faulty is a world whose watch of Pods is late, whose API server fails, and whose processes die.
type faulty struct {
	*world
	*rand.Rand

	t  *testing.T
	sd *v1alpha1.SimpleDeployment
	// late are the changes that the cache does not have yet.
	late []change
	// faults reports whether requests may fail.
	faults bool
	users  bool
}

type change struct {
	name string
	pod  *corev1.Pod
}

// TestReconcile_RandomFaults_KeepsTheBoundsAndConverges has reconciliations take place while the watch is late by any number of events, requests are
// rejected or lose their answer, processes die and others take over with caches that are late, and the spec changes. The bounds are
// looked at on the server with each request. Half of the time users delete Pods and take labels from them, too: then what a
// cache does not know yet may cost a ready Pod, as with every controller, but there is never one too many.
func TestReconcile_RandomFaults_KeepsTheBoundsAndConverges(t *testing.T) {
	source := testrand.Source(t)
	for i := range testrand.Inputs(t) {
		r := rand.New(rand.NewSource(source.Int63()))
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			f := newFaulty(t, r, i%2 == 1)
			f.faults = true
			for range 60 {
				f.step()
			}
			f.faults = false
			f.arrives()
		})
	}
}

func newFaulty(t *testing.T, r *rand.Rand, users bool) *faulty {
	t.Helper()
	f := &faulty{t: t, Rand: r, users: users, sd: object(int32(r.Intn(5)))}
	f.world = newWorld(t, f.sd)
	f.server.changed = func(name string, pod *corev1.Pod) { f.late = append(f.late, change{name, pod}) }
	f.kube.PrependReactor("*", "pods", f.answer)
	return f
}

func (f *faulty) step() {
	switch f.Intn(10) {
	case 0:
		f.respecify()
	case 1:
		f.restart()
	case 2:
		// Another process takes over, with a cache that is late.
		f.start(f.t)
	default:
		f.happens()
	}
	for len(f.late) > 0 && f.Intn(3) > 0 {
		f.deliver()
	}
	f.reconcileOnce()
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

// restart is a new process, which lists the Pods.
func (f *faulty) restart() {
	f.late = nil
	var listed []any
	for _, pod := range f.server.pods {
		if _, ok := pod.Labels[samples.PodOwnerUIDLabelKey]; ok {
			listed = append(listed, pod.DeepCopy())
		}
	}
	if err := f.pods.Replace(listed, ""); err != nil {
		f.t.Fatal(err)
	}
	f.start(f.t)
}

// happens changes Pods and spec as kubelets and users may.
func (f *faulty) happens() {
	for name, pod := range f.server.pods {
		pod = pod.DeepCopy()
		switch {
		case pod.DeletionTimestamp != nil && f.Intn(2) == 0:
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
		podTerminating(pod)
		f.server.put(pod)
	case 2:
		podPhase(corev1.PodFailed, epoch.Sub(f.clock.Now()))(pod)
		f.server.put(pod)
	case 3:
		unlabeled(pod)
		f.server.put(pod)
	}
}

// deliver brings one change into the cache, as a watch with our selector does.
func (f *faulty) deliver() {
	c := f.late[0]
	f.late = f.late[1:]
	if c.pod != nil && c.pod.Labels[samples.PodOwnerUIDLabelKey] != "" {
		if err := f.pods.Update(c.pod); err != nil {
			f.t.Fatal(err)
		}
		return
	}
	obj, exists, err := f.pods.GetByKey(ns + "/" + c.name)
	if err != nil {
		f.t.Fatal(err)
	}
	if !exists {
		return
	}
	if err := f.pods.Delete(obj); err != nil {
		f.t.Fatal(err)
	}
	f.inner.expectations.Removed(obj.(metav1.Object))
}

func (f *faulty) reconcileOnce() {
	// How it ends does not matter; the queue repeats it.
	_ = f.reconcile(logging.WithLogger(f.t.Context(), zap.NewNop().Sugar()))
}

// answer lets requests fail, before or after they were carried out, and looks at the bounds.
func (f *faulty) answer(action clientgotesting.Action) (bool, runtime.Object, error) {
	if f.faults && f.Intn(8) == 0 {
		return true, nil, errQuota
	}
	if f.faults && f.Intn(8) == 0 {
		return true, nil, reconcilertest.ErrInduced
	}
	before := f.truth()
	_, answer, err := f.server.react(action)
	after := f.truth()
	if asked := replicasOf(f.sd); after.active > before.active && after.active > asked+surge {
		f.t.Fatalf("%d Pods are active, %d are desired: %s %+v", after.active, asked, action.GetVerb(), f.describe())
	} else if !f.users && after.ready < before.ready && after.ready < asked {
		f.t.Fatalf("%d Pods are ready, %d are desired, and %d were ready before", after.ready, asked, before.ready)
	}
	if f.faults && f.Intn(8) == 0 {
		return true, nil, reconcilertest.ErrInduced
	}
	return true, answer, err
}

// truth returns the object's Pods on the server.
func (f *faulty) truth() counts {
	p := &reconciliation{sd: f.sd, prefix: prefixOf(f.sd), revision: revisionOf(f.sd)}
	var pods []pod
	for _, live := range f.server.pods {
		if owns(f.sd, live) {
			pods = append(pods, p.podOf(live))
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
	want := counts{replicasOf(f.sd), replicasOf(f.sd), replicasOf(f.sd)}
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
		for len(f.late) > 0 {
			f.deliver()
		}
		f.kube.ClearActions()
		f.reconcileOnce()
		if len(f.kube.Actions()) == 0 && f.truth() == want && f.ended() == 0 {
			return
		}
	}
	f.t.Fatalf("after %d reconciliations there are %+v, want %+v: %+v", enough, f.truth(), want, f.describe())
}
