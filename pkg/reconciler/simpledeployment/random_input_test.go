/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"encoding/json"
	"maps"
	"math/rand"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"knative.dev/pkg/apis"
	knativefuzzer "knative.dev/pkg/apis/testing/fuzzer"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

// TestReconcile_RandomInput_NeverPanics gives the reconciler objects and Pods filled with anything, including values that no API server
// admits: no reconciliation panics, each marks every condition, and none touches a Pod that is not the object's.
func TestReconcile_RandomInput_NeverPanics(t *testing.T) {
	source := testrand.Source(t)
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, knativefuzzer.Funcs), source, serializer.NewCodecFactory(runtime.NewScheme()))
	r := rand.New(source)
	for i := range testrand.Inputs(t) {
		sd := object(int32(r.Intn(5)))
		if r.Intn(2) == 0 {
			filler.Fill(&sd.Spec)
			// Pods cost time.
			sd.Spec.Replicas %= 8
		}
		if r.Intn(2) == 0 {
			filler.Fill(&sd.Status)
		}
		sd.Generation = r.Int63n(3)
		objs := []runtime.Object{sd}
		for slot := range r.Intn(6) {
			objs = append(objs, randomPod(r, func(obj any) { filler.Fill(obj) }, slot))
		}
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			given, err := json.Marshal(objs)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if t.Failed() {
					t.Logf("the objects are %s", given)
				}
			}()
			w := newWorld(t, objs...)
			before := foreign(w, sd)
			// The result depends on the random input; the test checks only that nothing else happens.
			_ = w.reconcile(logging.WithLogger(t.Context(), zap.NewNop().Sugar()))
			if diff := cmp.Diff(before, foreign(w, sd)); diff != "" {
				t.Errorf("a foreign Pod was changed (-before, +after):\n%s", diff)
			}
			checkStatus(t, w)
		})
	}
}

// randomPod may be the object's, and may look like it.
func randomPod(r *rand.Rand, fill func(any), slot int) *corev1.Pod {
	pod := podAt(slot)
	switch r.Intn(5) {
	case 0:
		withoutOwner(pod)
	case 1:
		ownedBy("samples.knative.dev/v1alpha1", "SimpleDeployment", "another")(pod)
	case 2:
		fill(&pod.OwnerReferences)
	}
	switch r.Intn(4) {
	case 0:
		fill(&pod.Status)
	case 1:
		fill(&pod.Labels)
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
	case 2:
		podReady(pod)
	}
	if r.Intn(4) == 0 {
		podTerminating(pod)
	}
	if r.Intn(4) == 0 {
		pod.Name = "p" + strconv.Itoa(slot)
	}
	return pod
}

// foreign are the Pods on the server that are not the object's.
func foreign(w *world, sd *v1alpha1.SimpleDeployment) map[string]*corev1.Pod {
	pods := maps.Clone(w.server.pods)
	maps.DeleteFunc(pods, func(_ string, pod *corev1.Pod) bool { return owns(sd, pod) })
	return pods
}

// checkStatus checks what holds for every status, whatever happened.
func checkStatus(t *testing.T, w *world) {
	t.Helper()
	sd, err := w.samples.SamplesV1alpha1().SimpleDeployments(ns).Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &sd.Status
	for _, conditionType := range []apis.ConditionType{
		v1alpha1.SimpleDeploymentConditionReady, v1alpha1.SimpleDeploymentConditionAvailable, v1alpha1.SimpleDeploymentConditionUpToDate,
	} {
		switch c := s.GetCondition(conditionType); {
		case c == nil:
			t.Errorf("condition %s is missing", conditionType)
		case c.Reason == "NewObservedGenFailure":
			t.Errorf("no step has marked condition %s", conditionType)
		case !c.IsTrue() && (c.Reason == "" || c.Message == ""):
			t.Errorf("condition %s is %s without saying why", conditionType, c.Status)
		}
	}
	if s.ObservedGeneration != sd.Generation {
		t.Errorf("generation %d was observed, want %d", s.ObservedGeneration, sd.Generation)
	}
	asked := sd.Spec.Replicas
	if s.GetCondition(v1alpha1.SimpleDeploymentConditionReady).IsTrue() && (s.Replicas != asked || s.UpdatedReplicas != asked || s.ReadyReplicas != asked) {
		t.Errorf("it is Ready with %+v of %d Pods", s, asked)
	}
	if s.Replicas < 0 || s.UpdatedReplicas > s.Replicas || s.ReadyReplicas > s.Replicas || s.Selector != samples.PodOwnerUIDLabelKey+"="+string(owner) {
		t.Errorf("the counts or the selector cannot be: %+v", s)
	}
}
