/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestReconcile_RandomObjects_NeverPanics(t *testing.T) {
	r := newRandom(t)
	for i := range testrand.Inputs(t) {
		as, objs, cfg := r.anObject(), r.surroundings(), r.aConfig()
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			given, err := json.Marshal(as)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if t.Failed() {
					t.Logf("the object is %s", given)
				}
			}()
			checkTwoReconciliations(t, newWorld(t, cfg, append(objs, as)...), as)
		})
	}
}

// checkTwoReconciliations fails if a reconciliation returns an error other than that the kind of the target is not served.
func checkTwoReconciliations(t *testing.T, w *world, as *v1.AddressableService) {
	t.Helper()
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("nothing was made to fail, but the reconciliation ends with %v", err)
	}
	ours, deleting := as.Annotations[samples.ClassAnnotationKey] == samples.ClassMallard, as.DeletionTimestamp != nil
	if !ours {
		if writes := w.writes(); len(writes) > 0 {
			t.Errorf("an object of another class is written to: %v", writes)
		}
		return
	}
	got := w.catchUp(t)
	if !slices.Equal(got.Status.Directories(), as.Status.Directories()) {
		// The status update enqueues the object.
		if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("the reconciliation after the namespace was recorded ends with %v", err)
		}
		got = w.catchUp(t)
	}
	if deleting {
		if slices.Contains(got.Finalizers, samples.FinalizerName) {
			t.Error("the finalizer still exists")
		}
	} else {
		checkStatus(t, got)
	}

	w.samples.ClearActions()
	w.kube.ClearActions()
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("the second reconciliation ends with %v", err)
	}
	if writes := w.writes(); len(writes) > 0 {
		t.Errorf("the second reconciliation writes: %v", writes)
	}
}

// checkStatus checks what holds for every status, whatever happened.
func checkStatus(t *testing.T, as *v1.AddressableService) {
	t.Helper()
	s := &as.Status
	for _, conditionType := range []apis.ConditionType{
		v1.AddressableServiceConditionReady, v1.AddressableServiceConditionTargetResolved, v1.AddressableServiceConditionPublished,
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
	if s.ObservedGeneration != as.Generation {
		t.Errorf("generation %d was observed, want %d", s.ObservedGeneration, as.Generation)
	}
	resolved := s.GetCondition(v1.AddressableServiceConditionTargetResolved).IsTrue()
	if (s.Address != nil) != resolved || (len(s.Addresses) > 0) != resolved {
		t.Errorf("TargetResolved is %t with address %v and addresses %v", resolved, s.Address, s.Addresses)
	}
	isReady := s.GetCondition(v1.AddressableServiceConditionReady).IsTrue()
	if want := resolved && s.GetCondition(v1.AddressableServiceConditionPublished).IsTrue(); isReady != want {
		t.Errorf("Ready is %t in %+v", isReady, s.Conditions)
	}
}

// writes are the requests of a reconciliation that change something.
func (w *world) writes() []string {
	var writes []string
	for _, action := range slices.Concat(w.samples.Actions(), w.kube.Actions()) {
		if !slices.Contains([]string{"get", "list", "watch"}, action.GetVerb()) {
			writes = append(writes, describeAction(action))
		}
	}
	return writes
}

func describeAction(action clientgotesting.Action) string {
	text := action.GetVerb() + " " + action.GetResource().Resource + "/" + action.GetSubresource()
	if update, ok := action.(clientgotesting.UpdateAction); ok {
		content, err := json.Marshal(update.GetObject())
		if err != nil {
			return text + " " + err.Error()
		}
		text += " " + string(content)
	}
	return text
}

// catchUp makes the caches hold what is on the server, as it comes over the wire,
// and returns the object.
func (w *world) catchUp(t *testing.T) *v1.AddressableService {
	t.Helper()
	written, err := w.samples.SamplesV1().AddressableServices(ns).Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	read := &v1.AddressableService{}
	if err := json.Unmarshal(content, read); err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	services, err := w.kube.CoreV1().Services(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	items := make([]any, 0, len(services.Items))
	for i := range services.Items {
		items = append(items, &services.Items[i])
	}
	if err := w.objects.Update(read); err != nil {
		t.Fatal(err)
	}
	if err := w.services.Replace(items, ""); err != nil {
		t.Fatal(err)
	}
	return read
}
