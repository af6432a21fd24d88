/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"encoding/json"
	"math/rand"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// random makes the input of a reconciliation.
type random struct{ *rand.Rand }

func pick[T any](r random, choices ...T) T { return choices[r.Intn(len(choices))] }

func (r random) oneIn(n int) bool { return r.Intn(n) == 0 }

func (r random) aSubject() tracker.Reference {
	ref := tracker.Reference{
		APIVersion: pick(r, "apps/v1", "apps/v1", "batch/v1", "example.com/v1", "example.com/v9", "v1", "", "a/b/c", "/"),
		Kind:       pick(r, "Deployment", "Deployment", "Job", "CronJob", "Duck", "Pod", "Node", "", "No kind"),
		Namespace:  pick(r, ns, "", "elsewhere"),
	}
	if r.oneIn(2) {
		ref.Name = pick(r, "d", "e", "j", "c", "k", "")
	}
	if ref.Name == "" || r.oneIn(8) {
		ref.Selector = pick(r, nil, &metav1.LabelSelector{}, metav1.SetAsLabelSelector(map[string]string{"app": "x"}),
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "?"}}})
	}
	return ref
}

// aBinding returns a binding in the state after some reconciliation. Admission may have accepted it, or may have been bypassed.
func (r random) aBinding(name string) *v1.AddressBinding {
	ab := object(name, withVariable(pick(r, "K_ADDRESS", "K_ADDRESS", "PEER", "")))
	if !r.oneIn(3) {
		ab.Spec.Subject = r.aSubject()
	}
	ab.Spec.Address.Name = pick(r, "hello", "hello", "bye", "", "Not a name")
	ab.CreationTimestamp = metav1.Unix(r.Int63n(2), 0)
	var marks []mark
	for range r.Intn(4) {
		subject := r.aSubject()
		marks = append(marks, pick(r,
			records(v1.SubjectKind{APIVersion: ab.Spec.Subject.APIVersion, Kind: ab.Spec.Subject.Kind, Resource: "ducks"}),
			records(v1.SubjectKind{APIVersion: subject.APIVersion, Kind: subject.Kind, Resource: "deployments"}), records(pick(r, deploymentKind, jobKind, duckKind)),
			resolvedTo(pick(r, url, other)), unresolved(v1.ReasonAddressNotFound, "as before"),
			notBoundBy(pick(r, precedence...), "as before"), isBound, intercepted))
	}
	status(marks...)(ab)
	if r.oneIn(6) {
		beingDeleted(ab)
	}
	if r.oneIn(8) {
		ab.Finalizers = pick(r, nil, []string{"other"})
	}
	return ab
}

func (r random) surroundings() []runtime.Object {
	env := func() subjectMod {
		var variables []any
		for range r.Intn(3) {
			variables = append(variables, pick(r, variable("K_ADDRESS", url), variable("K_ADDRESS", other), variable("K_ADDRESS", "mine"),
				variable("PEER", url), any(map[string]any{"name": "K_ADDRESS", "valueFrom": map[string]any{}}), variable("A", "b")))
		}
		return pick(r, withEnv(variables...), bound(url), bound(other, url), mods(bound(url), controlled))
	}
	labeled := func() subjectMod {
		return withLabels(pick(r, nil, map[string]string{"app": "x"}, map[string]string{"app": "x"},
			map[string]string{"app": "x", "bindings.knative.dev/exclude": "true"}, map[string]string{"bindings.knative.dev/include": "true"}))
	}
	strange := pick(r, any("text"), any(map[string]any{}), any(map[string]any{"template": []any{}}), nil)
	all := []runtime.Object{
		hello(pick(r, url, url, other, "")), everywhere, reconcilertest.DuckCRD(), namespace(pick(r, withoutLabels, optedOut)), r.aBinding("b"), r.aBinding("c"),
		deployment("d", env(), labeled()), deployment("e", env(), labeled()), deployment("f", goingAway, env()),
		subjectOf("batch/v1", "Job", "j", env(), labeled()), subjectOf("batch/v1", "CronJob", "c", labeled()),
		subjectOf("example.com/v1", "Duck", "k", env(), labeled()), subjectOf("example.com/v1", "Duck", "strange", withSpec(strange)),
	}
	all = slices.DeleteFunc(all, func(obj runtime.Object) bool {
		// Without its namespace nothing is decided.
		_, isNamespace := obj.(*corev1.Namespace)
		return !isNamespace && r.oneIn(8)
	})
	if r.oneIn(2) {
		all = append(all, namespace())
	}
	return all
}

func TestReconcile_RandomBindings(t *testing.T) {
	r := random{rand.New(testrand.Source(t))}
	// Each has separate informers.
	for i := range max(testrand.Inputs(t)/10, 50) {
		ab, objs := r.aBinding("a"), r.surroundings()
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			given, err := json.Marshal(ab)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if t.Failed() {
					t.Logf("the binding is %s", given)
				}
			}()
			checkReconciliations(t, newWorld(t, append(objs, ab)...), ab)
		})
	}
}

// checkReconciliations reconciles after each status update, until there is nothing to write.
func checkReconciliations(t *testing.T, w *world, ab *v1.AddressBinding) {
	t.Helper()
	const enough = 8
	for n := range enough {
		before := w.writes()
		if err := w.reconcile(t, "a"); err != nil {
			if requeue, _ := controller.IsRequeueKey(err); !requeue {
				t.Errorf("nothing was made to fail, but reconciliation %d ends with %v", n, err)
			}
		}
		got := w.binding(t, "a")
		if ab.DeletionTimestamp == nil {
			checkStatus(t, got)
		} else if len(got.Status.Kinds) == 0 && slices.Contains(got.Finalizers, samples.AddressBindingFinalizerName) {
			t.Error("the finalizer still exists")
		}
		if w.writes() == before {
			return
		}
	}
	t.Errorf("after %d reconciliations it still writes", enough)
}

// checkStatus checks what holds for every status, whatever happened.
func checkStatus(t *testing.T, ab *v1.AddressBinding) {
	t.Helper()
	s := &ab.Status
	for _, conditionType := range []apis.ConditionType{
		v1.AddressBindingConditionReady, v1.AddressBindingConditionAddressResolved, v1.AddressBindingConditionSubjectsBound, v1.AddressBindingConditionIntercepted,
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
	if c := s.GetCondition(v1.AddressBindingConditionAddressResolved); c.IsTrue() && s.Value == "" || c.IsFalse() && s.Value != "" {
		t.Errorf("AddressResolved is %s with value %q", c.Status, s.Value)
	}
	if s.Subjects != nil && s.Subjects.Bound > s.Subjects.Matched {
		t.Errorf("of %d subjects %d are bound", s.Subjects.Matched, s.Subjects.Bound)
	}
	if s.GetCondition(v1.AddressBindingConditionSubjectsBound).IsTrue() && (s.Subjects == nil || s.Subjects.Bound != s.Subjects.Matched) {
		t.Errorf("SubjectsBound is True with %+v", s.Subjects)
	}
}
