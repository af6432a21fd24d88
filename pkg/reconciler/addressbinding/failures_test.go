/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/controller"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/failures"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// TestReconcile_RejectionWordedDifferently_NoHotLoop reconciles as often as status updates enqueue a binding.
func TestReconcile_RejectionWordedDifferently_NoHotLoop(t *testing.T) {
	for name, rejection := range map[string]func(n int) error{
		"rejected": func(n int) error {
			return apierrors.NewForbidden(deploymentsResource, "d", fmt.Errorf("denied, request %d", n))
		},
		"failed": func(n int) error {
			return apierrors.NewInternalError(fmt.Errorf("read tcp 10.0.0.1:%d: connection reset by peer", n))
		},
		"broken": func(n int) error { return fmt.Errorf("read tcp 10.0.0.1:%d: connection reset by peer", n) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object("a", well), hello(url), namespace(), everywhere, deployment("d"))
			n := 0
			w.dynamic.PrependReactor("patch", "*", func(clientgotesting.Action) (bool, runtime.Object, error) {
				n++
				return true, nil, rejection(n)
			})
			updates := 0
			messages := map[string]bool{}
			for range 50 {
				_ = w.reconcile(t, "a")
				ab := w.binding(t, "a")
				messages[ab.Status.GetCondition(v1.AddressBindingConditionSubjectsBound).GetMessage()] = true
				w.clock.Step(100 * time.Millisecond)
			}
			for _, action := range w.samples.Actions() {
				if action.GetVerb() == "update" {
					updates++
				}
			}
			if name != "broken" && n > 4 || len(messages) > 1 || updates > 2 {
				t.Errorf("in 5 s there were %d patches and %d status updates with messages %v", n, updates, messages)
			}
		})
	}
}

// TestReconcile_ManySubjectsRejected_OthersAreBound has the last of many subjects accepted.
func TestReconcile_ManySubjectsRejected_OthersAreBound(t *testing.T) {
	objs := []runtime.Object{object("a", bySelector, well), hello(url), namespace(), everywhere, deployment("z")}
	for i := range 50 {
		objs = append(objs, deployment(fmt.Sprintf("d%02d", i)))
	}
	w := newWorld(t, objs...)
	tried := map[string]int{}
	w.dynamic.PrependReactor("patch", "*", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		name := action.(clientgotesting.PatchAction).GetName()
		tried[name]++
		if name != "z" && name != "d00" {
			return true, nil, apierrors.NewInvalid(schema.GroupKind{}, name, field.ErrorList{field.Forbidden(field.NewPath("spec"), "denied")})
		}
		return name != "z", nil, apierrors.NewForbidden(deploymentsResource, name, errors.New("denied"))
	})
	for second := range 60 {
		total := len(tried)
		err := w.reconcile(t, "a")
		if n := len(tried) - total; n > failuresAtOnce+1 {
			t.Errorf("second %d: %d subjects were tried", second, n)
		}
		requeue, after := controller.IsRequeueKey(err)
		if !requeue || after < firstDelay/2 || after > lastDelay {
			t.Fatalf("the result is %v", err)
		}
		w.clock.Step(time.Second)
	}
	w.has(t, "z", hasURL, true)
	if len(tried) != 51 {
		t.Errorf("%d subjects were tried, want all 51", len(tried))
	}
	ab := w.binding(t, "a")
	w.check(t, "a", v1.ReasonBindFailed, "patching Deployment d00: deployments.apps \"d00\" is forbidden: denied; and 49 more")
	if *ab.Status.Subjects != (v1.SubjectCount{Matched: 51, Bound: 1}) {
		t.Errorf("counted are %+v", *ab.Status.Subjects)
	}
}

func TestReconcile_Reverted_BacksOff(t *testing.T) {
	w := newWorld(t, object("a", well), hello(url), namespace(), everywhere, deployment("d"))
	patches, reported := 0, false
	for range 600 {
		_ = w.reconcile(t, "a")
		if n := len(w.patches()); n > 0 {
			patches += n
			w.change(t, deploymentsVersion, deployment("d"))
		}
		if c := w.binding(t, "a").Status.GetCondition(v1.AddressBindingConditionSubjectsBound); c.GetReason() == v1.ReasonBindFailed {
			reported = true
		}
		w.clock.Step(100 * time.Millisecond)
	}
	if patches < 4 || patches > 8 || !reported {
		t.Errorf("in a minute there were %d patches; reported: %t", patches, reported)
	}
}

func TestReconcile_PatchedButNotStored_IsReported(t *testing.T) {
	w := newWorld(t, object("a", well), hello(url), namespace(), everywhere, deployment("d"))
	w.dynamic.PrependReactor("patch", "*", func(clientgotesting.Action) (bool, runtime.Object, error) { return true, deployment("d"), nil })
	_ = w.reconcile(t, "a")
	w.check(t, "a", v1.ReasonBindFailed, "Deployment d: the API server accepted the patch but did not store the variable: "+
		"an admission webhook removed it, or the CRD's schema prunes it")
}

func TestReconcile_ChangedConcurrently_IsRetried(t *testing.T) {
	w := newWorld(t, object("a", well), hello(url), namespace(), everywhere, deployment("d"))
	stale := apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "patch", deploymentsResource, "d", "test failed", 0, false)
	failing := true
	w.dynamic.PrependReactor("patch", "*", func(clientgotesting.Action) (bool, runtime.Object, error) { return failing, nil, stale })
	_ = w.reconcile(t, "a")
	w.check(t, "a", v1.ReasonBinding, "Deployment d was changed concurrently; retrying")
	for delay := firstDelay; delay < lastDelay; delay *= 2 { // the status of an object may change all the time during a rollout
		w.clock.Step(delay)
		_ = w.reconcile(t, "a")
		w.check(t, "a", v1.ReasonBinding, "Deployment d was changed concurrently; retrying")
	}
	w.clock.Step(lastDelay)
	_ = w.reconcile(t, "a")
	if c := w.binding(t, "a").Status.GetCondition(v1.AddressBindingConditionSubjectsBound); c.GetReason() != v1.ReasonBindFailed {
		t.Errorf("after a minute SubjectsBound is %s with %q", c.Status, c.GetReason())
	}
	failing = false
	w.clock.Step(lastDelay)
	_ = w.reconcile(t, "a")
	w.check(t, "a", "", "")
}

func TestReconcile_DeletedConcurrently_DoesNotCount(t *testing.T) {
	w := newWorld(t, object("a", bySelector, well), hello(url), namespace(), everywhere, deployment("d"))
	w.dynamic.PrependReactor("patch", "*", reconcilertest.Failing("patch", "*", apierrors.NewNotFound(deploymentsResource, "d")))
	if err := w.reconcile(t, "a"); err != nil {
		t.Error(err)
	}
	w.check(t, "a", v1.ReasonNoSubjects, "the selector matches no Deployment.apps")
}

func TestReconcile_ConnectionFails_OneRequest(t *testing.T) {
	w := newWorld(t, object("a", bySelector, well), hello(url), namespace(), everywhere, deployment("d"), deployment("e"), deployment("f"))
	w.dynamic.PrependReactor("patch", "*", reconcilertest.Failing("patch", "*", reconcilertest.ErrInduced))
	if err := w.reconcile(t, "a"); !errors.Is(err, reconcilertest.ErrInduced) || len(w.patches()) != 1 {
		t.Errorf("the result is %v", err)
	}
	w.check(t, "a", v1.ReasonBindFailed, "patching Deployment d: induced; and 2 more")
}

func TestReconcile_NotReadForNewGeneration_IsUnknown(t *testing.T) {
	w := newWorld(t, object("a", well), hello(url), namespace(), everywhere)
	w.update(t, "a", withSubject("apps/v1", "StatefulSet", "s"))
	w.dynamic.PrependReactor("list", "statefulsets", reconcilertest.Failing("list", "*", reconcilertest.ErrInduced))
	_ = w.reconcile(t, "a")
	w.check(t, "a", v1.ReasonBinding, "the objects of kind StatefulSet.apps have not been read")
}

func TestReconcile_MissingPermissionToPatch(t *testing.T) {
	w := newWorld(t, object("a", well), hello(url), namespace(), everywhere, deployment("d"))
	err := apierrors.NewForbidden(deploymentsResource, "d", errors.New(`User "c" cannot patch resource "deployments" in API group "apps"`))
	w.dynamic.PrependReactor("patch", "*", reconcilertest.Failing("patch", "deployments", err))
	_ = w.reconcile(t, "a")
	w.check(t, "a", v1.ReasonSubjectForbidden, "patching Deployment d: "+err.Error())
}

// TestReconcile_ListFails_SubjectsStay is about a controller that has just started. Only an answer of the API server changes the condition.
func TestReconcile_ListFails_SubjectsStay(t *testing.T) {
	for name, test := range map[string]struct {
		err             error
		reason, message string
	}{
		"forbidden": {
			apierrors.NewForbidden(deploymentsResource, "", errors.New("no")), v1.ReasonSubjectForbidden,
			"the operator is not allowed to list deployments.apps; grant list, watch and patch in a ClusterRole labeled duck.knative.dev/podspecable=true",
		},
		"error":     {apierrors.NewInternalError(errors.New("no")), v1.ReasonSubjectUnavailable, "listing deployments.apps: Internal error occurred: no"},
		"not found": {apierrors.NewNotFound(deploymentsResource, ""), "", ""},
		"cut":       {reconcilertest.ErrInduced, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object("a", well), hello(other), namespace(), everywhere, deployment("d", bound(url)))
			w.dynamic.PrependReactor("list", "*", reconcilertest.Failing("list", "*", test.err))
			if requeue, after := controller.IsRequeueKey(w.reconcile(t, "a")); !requeue || after > failures.RetryDelay {
				t.Errorf("it is reconciled again: %t, after %s", requeue, after)
			}
			w.check(t, "a", test.reason, test.message)
			w.has(t, "d", hasURL, true)
			if kinds := w.binding(t, "a").Status.Kinds; len(kinds) != 1 {
				t.Errorf("recorded are %v", kinds)
			}
		})
	}
}

func TestReconcile_NamespaceNotKnown_NothingIsDecided(t *testing.T) {
	for _, ab := range []*v1.AddressBinding{object("a", well), object("a", well, beingDeleted)} {
		w := newWorld(t, ab, hello(url), everywhere, deployment("d", bound(other)), deployment("e", bound(url)))
		_ = w.reconcile(t, "a")
		if got := w.patches(); len(got) > 0 || len(w.binding(t, "a").Finalizers) == 0 {
			t.Errorf("patched are %v, the finalizers %v", got, w.binding(t, "a").Finalizers)
		}
	}
}

func TestAttempts_PatchIsNotSentAgain_IsForgotten(t *testing.T) {
	w := newWorld(t, object("a", well), hello(url), namespace(), everywhere, deployment("d"))
	_ = w.reconcile(t, "a")
	w.change(t, deploymentsVersion, deployment("d"))
	if w.clock.Step(2*lastDelay - time.Second); w.inner.attempts.Len() != 1 {
		t.Errorf("%d attempts are remembered, want 1", w.inner.attempts.Len())
	}
	w.clock.Step(2 * time.Second)
	_ = w.reconcile(t, "a")
	if _, after := controller.IsRequeueKey(w.reconcile(t, "a")); after != 0 || len(w.patches()) != 2 {
		t.Errorf("the patch was not sent again; the binding is reconciled again after %s", after)
	}
}

func TestWorst_FirstReasonAndNumberOfOthers(t *testing.T) {
	forbidden, failed := failures.Newf(v1.ReasonSubjectForbidden, "x"), failures.Newf(v1.ReasonBindFailed, "y")
	waiting, quiet := &failures.Failure{Reason: v1.ReasonBindFailed}, &failures.Failure{Recheck: 1}
	for _, test := range []struct {
		problems []*failures.Failure
		want     string
	}{
		{[]*failures.Failure{nil, quiet}, ""},
		{[]*failures.Failure{failed, forbidden}, "x"},
		{[]*failures.Failure{waiting, failed, waiting}, "y; and 2 more"},
	} {
		got := ""
		if p := worst(test.problems); p != nil {
			got = p.Message
		}
		if got != test.want {
			t.Errorf("the message is %q, want %q", got, test.want)
		}
	}
	if strings.Contains(failed.Message, "more") {
		t.Error("a problem was changed")
	}
}

var statefulSetsVersion = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
