/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

const hasURL, hasOther = "K_ADDRESS=" + url, "K_ADDRESS=" + other

func TestReconcile_NewBinding_KindIsRecordedThenSubjectPatchedOnce(t *testing.T) {
	w := newWorld(t, object("a"), hello(url), namespace(), everywhere, deployment("d"), deployment("e"))
	if err := w.reconcile(t, "a"); err != nil {
		t.Fatal(err)
	}
	if got := w.patches(); len(got) > 0 {
		t.Errorf("%v were patched before the kind was recorded", got)
	}
	if kinds := w.binding(t, "a").Status.Kinds; !slices.Equal(kinds, []v1.SubjectKind{deploymentKind}) {
		t.Errorf("recorded are %v", kinds)
	}
	w.settle(t, "a")
	if got := w.patches(); !slices.Equal(got, []string{"d"}) {
		t.Errorf("patched are %v, want d", got)
	}
	w.has(t, "d", hasURL, true)
	w.has(t, "e", "", false)
	ab := w.binding(t, "a")
	if got := ab.Status.Subjects; !ab.Status.GetCondition(v1.AddressBindingConditionReady).IsTrue() || *got != (v1.SubjectCount{Matched: 1, Bound: 1}) {
		t.Errorf("the status is %+v", ab.Status)
	}
}

func TestReconcile_ObjectsThatItReads_AreTracked(t *testing.T) {
	service, space := hello(url), namespace()
	service.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("AddressableService"))
	space.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	tracked := []any{service, space, deployment("d"), deployment("selected too")}
	for name, ab := range map[string]*v1.AddressBinding{"new": object("a", bySelector), "invalid": object("a", withSubject("apps/v1", "No kind", "d"))} {
		w := newWorld(t, ab, hello(url), namespace(), everywhere)
		_ = w.reconcile(t, "a")
		for _, obj := range tracked {
			_, isSubject := obj.(*unstructured.Unstructured)
			if got := w.inner.tracker.GetObservers(obj); (len(got) == 1) != (name == "new" || !isSubject) {
				t.Errorf("%s: %v track %v", name, got, obj)
			}
		}
		if got := w.inner.tracker.GetObservers(deployment("d", withLabels(nil))); len(got) > 0 {
			t.Errorf("%s: %v track a Deployment that the selector does not match", name, got)
		}
	}
	w := newWorld(t, object("a", well, beingDeleted))
	if _ = w.reconcile(t, "a"); len(w.inner.tracker.GetObservers(space)) != 1 {
		t.Error("a binding that is being deleted does not track its namespace")
	}
}

// The address and other bindings may be deleted before the subjects. Every binding of the namespace would remove what they leave.
func TestReconcile_NamespaceIsDeleted_WritesNothing(t *testing.T) {
	terminating := namespace(func(n *corev1.Namespace) { n.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} })
	w := newWorld(t, object("a", well), terminating, everywhere, deployment("d", bound(url)))
	if err := w.reconcile(t, "a"); err != nil || w.writes() > 0 {
		t.Errorf("got error %v and %d writes, want neither", err, w.writes())
	}
}

func TestReconcile_Address(t *testing.T) {
	service := func(mods ...func(*v1.AddressableService)) *v1.AddressableService {
		as := hello("")
		as.Status = v1.AddressableServiceStatus{}
		as.GetConditionSet().Manage(&as.Status).InitializeConditions()
		for _, m := range mods {
			m(as)
		}
		return as
	}
	failed := func(reason string) func(*v1.AddressableService) {
		return func(as *v1.AddressableService) { as.Status.MarkTargetUnknown(reason, "no") }
	}
	for name, test := range map[string]struct {
		hello           *v1.AddressableService
		reason, message string
		unknown         bool
		env             string
	}{
		"another":          {hello: hello(other), env: hasOther},
		"deleted":          {reason: v1.ReasonAddressNotFound, message: "AddressableService hello does not exist"},
		"target not found": {hello: hello(""), reason: v1.ReasonAddressNotReady, message: "AddressableService hello has no address: TargetNotFound"},
		"too long": {
			hello: hello("http://" + strings.Repeat("a", 5000)), reason: v1.ReasonAddressNotReady,
			message: "the address of AddressableService hello is longer than 4096 characters",
		},
		"not reconciled":     {hello: service(), reason: v1.ReasonAddressNotReady, message: "the address of AddressableService hello is unknown: no operator has reported its condition TargetResolved", unknown: true, env: hasURL},
		"target unavailable": {hello: service(failed(v1.ReasonTargetUnavailable)), reason: v1.ReasonAddressNotReady, message: "the address of AddressableService hello is unknown: TargetUnavailable", unknown: true, env: hasURL},
		"target forbidden":   {hello: service(failed(v1.ReasonTargetForbidden)), reason: v1.ReasonAddressNotReady, message: "the address of AddressableService hello is unknown: TargetForbidden", unknown: true, env: hasURL},
	} {
		t.Run(name, func(t *testing.T) {
			objs := []runtime.Object{object("a", well), namespace(), everywhere, deployment("d", bound(url))}
			if test.hello != nil {
				objs = append(objs, test.hello)
			}
			w := newWorld(t, objs...)
			w.settle(t, "a")
			w.has(t, "d", test.env, true)
			c := w.binding(t, "a").Status.GetCondition(v1.AddressBindingConditionAddressResolved)
			if c.GetReason() != test.reason || c.GetMessage() != test.message || c.IsUnknown() != test.unknown {
				t.Errorf("AddressResolved is %s with %q: %q", c.Status, c.GetReason(), c.GetMessage())
			}
		})
	}
}

// TestReconcile_Subjects applies a binding, by the selector app=x, to one Deployment d.
func TestReconcile_Subjects(t *testing.T) {
	own := "Deployment d: container main has its own variable K_ADDRESS"
	neither := "Deployment d: neither it nor its namespace has the label bindings.knative.dev/include=true"
	optsOut := "Deployment d: it or its namespace has the label bindings.knative.dev/exclude=true"
	for name, test := range map[string]struct {
		subject         subjectMod
		namespace       func(*corev1.Namespace)
		env             string
		marked          bool
		reason, message string
		matched         int32
	}{
		"without the variable":      {env: hasURL, marked: true, matched: 1},
		"outdated":                  {subject: bound(other), env: hasURL, marked: true, matched: 1},
		"rolled back":               {subject: bound("http://older", other), env: hasURL, marked: true, matched: 1},
		"its own variable":          {subject: has("mine"), env: "K_ADDRESS=mine", reason: v1.ReasonVariableTaken, message: own, matched: 1},
		"its own with the address":  {subject: has(url), env: hasURL, reason: v1.ReasonVariableTaken, message: own, matched: 1},
		"not chosen, its own":       {subject: mods(has(url), withLabels(nil)), env: hasURL, reason: v1.ReasonNoSubjects, message: "the selector matches no Deployment.apps"},
		"not chosen, marked":        {subject: mods(bound(url), withLabels(nil)), reason: v1.ReasonNoSubjects, message: "the selector matches no Deployment.apps"},
		"not included":              {namespace: withoutLabels, reason: v1.ReasonNotIncluded, message: neither, matched: 1},
		"not included, its own":     {subject: has(url), namespace: withoutLabels, env: hasURL, reason: v1.ReasonNotIncluded, message: neither, matched: 1},
		"not included, marked":      {subject: bound(url), namespace: withoutLabels, reason: v1.ReasonNotIncluded, message: neither, matched: 1},
		"namespace opts out":        {subject: bound(url), namespace: optedOut, reason: v1.ReasonExcluded, message: optsOut, matched: 1},
		"opts out, its own":         {subject: mods(has(url), withLabels(map[string]string{"app": "x", "bindings.knative.dev/exclude": "true"})), env: hasURL, reason: v1.ReasonExcluded, message: optsOut, matched: 1},
		"opts in alone":             {subject: withLabels(map[string]string{"app": "x", "bindings.knative.dev/include": "true"}), namespace: withoutLabels, env: hasURL, marked: true, matched: 1},
		"controlled":                {subject: controlled, reason: v1.ReasonControlled, message: "Deployment d is controlled by another object, which would revert the change; bind that object", matched: 1},
		"controlled, with the mark": {subject: mods(bound(other), controlled), env: hasOther, marked: true, reason: v1.ReasonControlled, message: "Deployment d is controlled by another object, which would revert the change; bind that object", matched: 1},
		"controlled, opted out":     {subject: mods(bound(url), controlled), namespace: optedOut, env: hasURL, marked: true, reason: v1.ReasonExcluded, message: optsOut, matched: 1},
		"controlled, has it":        {subject: mods(has(url), controlled), env: hasURL, matched: 1},
		"being deleted":             {subject: goingAway, reason: v1.ReasonNoSubjects, message: "the selector matches no Deployment.apps"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.subject == nil {
				test.subject = mods()
			}
			if test.namespace == nil {
				test.namespace = func(*corev1.Namespace) {}
			}
			w := newWorld(t, object("a", bySelector, well), hello(url), namespace(test.namespace), everywhere, deployment("d", test.subject))
			w.settle(t, "a")
			w.has(t, "d", test.env, test.marked)
			w.check(t, "a", test.reason, test.message)
			bound := test.matched
			if test.reason != "" {
				bound = 0
			}
			ab := w.binding(t, "a")
			if got := *ab.Status.Subjects; got != (v1.SubjectCount{Matched: test.matched, Bound: bound}) {
				t.Errorf("counted are %+v, want %d and %d", got, test.matched, bound)
			}
			if ready := ab.Status.GetCondition(v1.AddressBindingConditionReady); ready.IsTrue() != (test.reason == "") {
				t.Errorf("Ready is %s", ready.Status)
			}
		})
	}
}

func mods(all ...subjectMod) subjectMod {
	return func(u *unstructured.Unstructured) {
		for _, m := range all {
			m(u)
		}
	}
}

func TestReconcile_NoSubjectOfThatName(t *testing.T) {
	w := newWorld(t, object("a"), hello(url), namespace(), everywhere, deployment("e"))
	w.settle(t, "a")
	w.check(t, "a", v1.ReasonSubjectNotFound, "Deployment.apps d does not exist")
}

func TestReconcile_Jobs(t *testing.T) {
	job := withSubject("batch/v1", "Job", "")
	jobs := func(ab *v1.AddressBinding) { job(ab); bySelector(ab) }
	for name, test := range map[string]struct {
		subject         subjectMod
		reason, message string
	}{
		"with the address":       {subject: bound(url)},
		"finished, with another": {subject: mods(bound(other), finished), reason: v1.ReasonNoSubjects, message: "the selector matches no Job.batch"},
		"running, with another": {
			subject: bound(other), reason: v1.ReasonSubjectImmutable,
			message: "Job j was created before the address was available, and its Pod template is immutable; delete and recreate it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, object("a", jobs), hello(url), namespace(), everywhere, subjectOf("batch/v1", "Job", "j", test.subject))
			w.settle(t, "a")
			w.check(t, "a", test.reason, test.message)
			if got := w.patches(); len(got) > 0 {
				t.Errorf("Jobs were patched: %v", got)
			}
		})
	}
}

func TestReconcile_KindIsNotBindable_NothingIsRecorded(t *testing.T) {
	made := "%s cannot be a subject: it has no Pod template or is cluster-scoped, or is made by objects of another kind; bind those"
	large := reconcilertest.DuckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Name, crd.Spec.Names.Kind, crd.Spec.Scope = "geese.example.com", "Goose", apiextensionsv1.ClusterScoped
	})
	pending := reconcilertest.DuckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Name, crd.Spec.Names.Kind, crd.Status.Conditions = "swans.example.com", "Swan", nil
	})
	for kind, test := range map[[2]string]struct{ reason, message string }{
		{"apps/v1", "ReplicaSet"}:      {v1.ReasonSubjectKindNotBindable, fmt.Sprintf(made, "ReplicaSet.apps")},
		{"v1", "Pod"}:                  {v1.ReasonSubjectKindNotBindable, fmt.Sprintf(made, "Pod")},
		{"example.com/v1", "Goose"}:    {v1.ReasonSubjectKindNotBindable, fmt.Sprintf(made, "Goose.example.com")},
		{"apps/v1beta1", "Deployment"}: {v1.ReasonSubjectKindNotFound, "the cluster does not serve kind Deployment at apps/v1beta1"},
		{"example.com/v2", "Duck"}:     {v1.ReasonSubjectKindNotFound, "the cluster does not serve kind Duck at example.com/v2"},
		{"example.com/v1", "Swan"}:     {v1.ReasonSubjectKindNotFound, "the cluster does not serve kind Swan at example.com/v1"},
		{"other.com/v1", "Duck"}:       {v1.ReasonSubjectKindNotFound, "the cluster does not serve kind Duck at other.com/v1"},
	} {
		t.Run(kind[1]+" of "+kind[0], func(t *testing.T) {
			w := newWorld(t, object("a", withSubject(kind[0], kind[1], "d")), hello(url), namespace(), everywhere, reconcilertest.DuckCRD(), large, pending)
			w.settle(t, "a")
			w.check(t, "a", test.reason, test.message)
			ab := w.binding(t, "a")
			if len(ab.Status.Kinds) > 0 || !ab.Status.GetCondition(v1.AddressBindingConditionIntercepted).IsUnknown() {
				t.Errorf("the status is %+v", ab.Status)
			}
		})
	}
}

func TestReconcile_VersionChanges_RecordFollows(t *testing.T) {
	both := reconcilertest.DuckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[1].Served = true })
	before := v1.SubjectKind{APIVersion: "example.com/v0", Kind: "Duck", Resource: "ducks"}
	w := newWorld(t, object("a", withSubject("example.com/v1", "Duck", "k"), status(resolvedTo(url), records(before))), hello(url), namespace(), everywhere, both,
		subjectOf("example.com/v1", "Duck", "k"), subjectOf("example.com/v1", "Duck", "strange", withSpec("text"), withLabels(nil)))
	w.settle(t, "a")
	w.check(t, "a", "", "")
	if kinds := w.binding(t, "a").Status.Kinds; !slices.Equal(kinds, []v1.SubjectKind{duckKind}) {
		t.Errorf("recorded are %v", kinds)
	}
}

func TestReconcile_Interception(t *testing.T) {
	const configuration = "the MutatingWebhookConfiguration binding.webhook.samples.knative.dev "
	const later = ": new objects get their address after they were created"
	withoutCA, empty := everywhere.DeepCopy(), everywhere.DeepCopy()
	withoutCA.Webhooks[0].ClientConfig.CABundle, empty.Webhooks = nil, nil
	for name, test := range map[string]struct {
		objs            []runtime.Object
		reason, message string
	}{
		"no CA":            {[]runtime.Object{namespace(), withoutCA}, v1.ReasonNotIntercepted, configuration + "has no rule for deployments.apps yet" + later},
		"intercepted":      {[]runtime.Object{namespace(), everywhere}, "", ""},
		"no configuration": {[]runtime.Object{namespace()}, v1.ReasonNotIntercepted, configuration + "does not exist"},
		"no webhook":       {[]runtime.Object{namespace(), empty}, v1.ReasonNoWebhook, "the webhook is not installed" + later},
		"no rule":          {[]runtime.Object{namespace(), webhooks()}, v1.ReasonNotIntercepted, configuration + "has no rule for deployments.apps yet" + later},
		"excluded": {
			[]runtime.Object{namespace(withoutWebhooks), everywhere}, v1.ReasonNotIntercepted, "the namespace has the label webhooks.knative.dev/exclude" + later,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(test.objs, object("a", well), hello(url), deployment("d", bound(url)))...)
			w.settle(t, "a")
			c := w.binding(t, "a").Status.GetCondition(v1.AddressBindingConditionIntercepted)
			if c.GetMessage() != test.message || c.GetReason() != test.reason || c.IsTrue() != (test.reason != v1.ReasonNotIntercepted) {
				t.Errorf("Intercepted is %s, %s: %q, want %s: %q", c.Status, c.GetReason(), c.GetMessage(), test.reason, test.message)
			}
		})
	}
}

func TestReconcile_SubjectOfAnotherKind_FormerOneIsCleaned(t *testing.T) {
	toStatefulSet := withSubject("apps/v1", "StatefulSet", "s")
	w := newWorld(t, object("a", toStatefulSet, well), hello(url), namespace(), everywhere, deployment("d", bound(url)), subjectOf("apps/v1", "StatefulSet", "s"))
	w.settle(t, "a")
	w.has(t, "d", "", false)
	w.clock.Step(settling)
	w.settle(t, "a")
	if env, marked := w.env(t, statefulSetsVersion, "s"); env != hasURL || !marked {
		t.Errorf("the StatefulSet has %q, marked: %t", env, marked)
	}
	if kinds := w.binding(t, "a").Status.Kinds; !slices.Equal(kinds, []v1.SubjectKind{statefulSetKind}) {
		t.Errorf("recorded are %v", kinds)
	}
}

func TestReconcile_OldestBindingHasTheVariable_YoungerTakesOver(t *testing.T) {
	young := object("b", func(ab *v1.AddressBinding) { ab.CreationTimestamp, ab.Spec.Address.Name = metav1.Unix(1, 0), "bye" })
	bye := hello(other)
	bye.Name = "bye"
	w := newWorld(t, object("a"), young, hello(url), bye, namespace(), everywhere, deployment("d"))
	w.settle(t, "a", "b")
	w.has(t, "d", hasURL, true)
	w.check(t, "b", v1.ReasonVariableTaken, "Deployment d: variable K_ADDRESS is claimed by AddressBinding a, which is older")
	if err := w.addressableServices.Delete(hello(url)); err != nil {
		t.Fatal(err)
	}
	w.settle(t, "a", "b")
	w.has(t, "d", hasOther, true)
	w.check(t, "b", "", "")
}

// TestReconcile_OlderBindingCannotBind_YoungerIsBoundUntilItCan has two bindings of one variable: a cannot bind, until it is corrected.
func TestReconcile_OlderBindingCannotBind_YoungerIsBoundUntilItCan(t *testing.T) {
	young := object("b", func(ab *v1.AddressBinding) { ab.CreationTimestamp, ab.Spec.Address.Name = metav1.Unix(1, 0), "bye" })
	for name, test := range map[string]struct {
		a       mod
		hello   *v1.AddressableService
		correct func(*testing.T, *world)
	}{
		"version not served": {a: withSubject("apps/v1beta1", "Deployment", "d"), hello: hello(url), correct: func(t *testing.T, w *world) {
			w.update(t, "a", withSubject("apps/v1", "Deployment", "d"))
		}},
		"version not served anymore": {a: both(well, withSubject("apps/v1beta1", "Deployment", "d")), hello: hello(url), correct: func(t *testing.T, w *world) {
			w.update(t, "a", withSubject("apps/v1", "Deployment", "d"))
		}},
		"address unknown": {a: both(), hello: unresolvedHello(), correct: func(t *testing.T, w *world) {
			if err := w.addressableServices.Update(hello(url)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bye := hello(other)
			bye.Name = "bye"
			w := newWorld(t, object("a", test.a), young.DeepCopy(), test.hello, bye, namespace(), everywhere, deployment("d"))
			w.settle(t, "a", "b")
			w.has(t, "d", hasOther, true)
			w.check(t, "b", "", "")

			// The younger one is not held back by what it has written itself.
			bye = hello("http://third")
			bye.Name = "bye"
			if err := w.addressableServices.Update(bye); err != nil {
				t.Fatal(err)
			}
			w.settle(t, "a", "b")
			w.has(t, "d", "K_ADDRESS=http://third", true)
			w.check(t, "b", "", "")

			test.correct(t, w)
			w.settle(t, "a", "b")
			w.has(t, "d", hasURL, true)
			w.check(t, "a", "", "")
			w.check(t, "b", v1.ReasonVariableTaken, "Deployment d: variable K_ADDRESS is claimed by AddressBinding a, which is older")
		})
	}
}

// TestReconcile_StatusesLost_OlderBindingKeepsItsVariable is about a backup that was restored without statuses, also that of the AddressableService.
func TestReconcile_StatusesLost_OlderBindingKeepsItsVariable(t *testing.T) {
	young := object("b", func(ab *v1.AddressBinding) { ab.CreationTimestamp, ab.Spec.Address.Name = metav1.Unix(1, 0), "bye" })
	bye := hello(other)
	bye.Name = "bye"
	w := newWorld(t, object("a"), young, hello(url), bye, namespace(), everywhere, deployment("d"))
	w.settle(t, "a", "b")
	w.patches()
	w.loseStatuses(t, "a", "b")
	for _, address := range []*v1.AddressableService{unresolvedHello(), hello(url)} {
		if err := w.addressableServices.Update(address); err != nil {
			t.Fatal(err)
		}
		w.settle(t, "b", "a")
		if got := w.patches(); len(got) > 0 {
			t.Errorf("patched are %v, though the subject has everything", got)
		}
		if address.Status.Address == nil {
			w.check(t, "b", v1.ReasonVariableTaken, "Deployment d: variable K_ADDRESS is that of AddressBinding a, which is older and whose address is unknown")
		}
	}
	w.has(t, "d", hasURL, true)
}

// TestReconcile_AfterRestart_OlderBindingKeepsItsVariable: the statuses exist, and the caches of subjects are empty.
func TestReconcile_AfterRestart_OlderBindingKeepsItsVariable(t *testing.T) {
	young := object("b", func(ab *v1.AddressBinding) { ab.CreationTimestamp, ab.Spec.Address.Name = metav1.Unix(1, 0), "bye" },
		status(resolvedTo(other), records(deploymentKind)))
	w := newWorld(t, object("a", well), young, unresolvedHello(), namespace(), everywhere, deployment("d", bound(url)))
	for range 2 {
		for _, name := range []string{"b", "a"} {
			_ = w.reconciler.Reconcile(t.Context(), ns+"/"+name)
		}
	}
	w.settle(t, "b", "a")
	if got := w.patches(); len(got) > 0 {
		t.Errorf("patched are %v", got)
	}
	w.has(t, "d", hasURL, true)
}

// TestReconcile_WaitsForAnother_NamesIt is about the reason Binding.
func TestReconcile_WaitsForAnother_NamesIt(t *testing.T) {
	young := object("b", func(ab *v1.AddressBinding) { ab.CreationTimestamp = metav1.Unix(1, 0) }, well)
	w := newWorld(t, object("a", well), young, hello(url), namespace(), everywhere, deployment("d"), object("c", withSubject("apps/v1", "StatefulSet", "s")))
	if err := w.reconcile(t, "b"); err != nil {
		t.Fatal(err)
	}
	w.check(t, "b", v1.ReasonBinding, "Deployment d waits for AddressBinding a, which is older and sets the same address")
	w.dynamic.PrependReactor("list", "*", reconcilertest.Failing("list", "*", reconcilertest.ErrInduced))
	if err := w.reconciler.Reconcile(t.Context(), ns+"/c"); !errors.Is(err, reconcilertest.ErrInduced) {
		t.Errorf("the result is %v", err)
	}
	w.check(t, "c", v1.ReasonBinding, "the objects of kind StatefulSet.apps have not been read")
}

// TestReconcile_StatusesLost_VariablesStay: no binding takes another one's variable for an unused one.
func TestReconcile_StatusesLost_VariablesStay(t *testing.T) {
	peer := object("b", withVariable("PEER"))
	w := newWorld(t, object("a"), peer, hello(url), namespace(), everywhere, deployment("d"))
	w.settle(t, "a", "b")
	w.patches()
	w.loseStatuses(t, "a", "b")
	w.settle(t, "b", "a")
	if got := w.patches(); len(got) > 0 {
		t.Errorf("patched are %v, though the subject has everything", got)
	}
	w.has(t, "d", hasURL+",PEER="+url, true)
}

func TestFinalize_RemovesWhatNoOtherBindingWants(t *testing.T) {
	for name, test := range map[string]struct {
		objs   []runtime.Object
		env    string
		marked bool
	}{
		"bound":               {objs: []runtime.Object{deployment("d", bound(url))}},
		"its own":             {objs: []runtime.Object{deployment("d", has(url))}, env: hasURL},
		"controlled":          {objs: []runtime.Object{deployment("d", bound(url), controlled)}, env: hasURL, marked: true},
		"wanted by another":   {objs: []runtime.Object{deployment("d", bound(url)), object("b", well)}, env: hasURL, marked: true},
		"wanted by one going": {objs: []runtime.Object{deployment("d", bound(url)), object("b", well, beingDeleted)}},
		"next to an unknown":  {objs: []runtime.Object{deployment("d", bound(url)), object("b")}, marked: true},
		"set by an unknown":   {objs: []runtime.Object{deployment("d", boundBy("b", url)), object("b")}, env: hasURL, marked: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(test.objs, object("a", well, beingDeleted), hello(url), namespace(), everywhere)...)
			if err := w.finalize(t, "a"); err != nil {
				t.Fatal(err)
			}
			w.has(t, "d", test.env, test.marked)
			if finalizers := w.binding(t, "a").Finalizers; len(finalizers) > 0 {
				t.Errorf("the binding has finalizers %v", finalizers)
			}
		})
	}
}

func TestFinalize_VersionIsNotServedAnymore_AnotherIsUsed(t *testing.T) {
	before := v1.SubjectKind{APIVersion: "example.com/v0", Kind: "Duck", Resource: "ducks"}
	w := newWorld(t, object("a", beingDeleted, withSubject("example.com/v0", "Duck", "k"), status(resolvedTo(url), records(before))),
		hello(url), namespace(), everywhere, reconcilertest.DuckCRD(), subjectOf("example.com/v1", "Duck", "k", bound(url)))
	if err := w.finalize(t, "a"); err != nil {
		t.Fatal(err)
	}
	if env, marked := w.env(t, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ducks"}, "k"); env != "" || marked {
		t.Errorf("the subject has %q, marked: %t", env, marked)
	}
}

func TestFinalize_KindCannotBeRead(t *testing.T) {
	forbidden := apierrors.NewForbidden(deploymentsResource, "", errors.New("no"))
	toDuck := withSubject("example.com/v1", "Duck", "k")
	for name, test := range map[string]struct {
		binding *v1.AddressBinding
		reason  string
	}{
		"never listed":        {binding: object("a", beingDeleted, status(resolvedTo(url)))},
		"forbidden by now":    {binding: object("a", beingDeleted, well, func(ab *v1.AddressBinding) { ab.Generation = 2 }), reason: v1.ReasonSubjectForbidden},
		"not served any more": {binding: object("a", beingDeleted, toDuck, status(resolvedTo(url), records(duckKind)))},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, test.binding, hello(url), namespace(), everywhere, deployment("d", bound(url)))
			w.dynamic.PrependReactor("list", "*", reconcilertest.Failing("list", "*", forbidden))
			err := w.finalize(t, "a")
			ab := w.binding(t, "a")
			if (len(ab.Finalizers) == 0) != (test.reason == "") || (err == nil) != (test.reason == "") {
				t.Errorf("finalizers are %v, the result is %v", ab.Finalizers, err)
			}
			if c := ab.Status.GetCondition(v1.AddressBindingConditionSubjectsBound); test.reason != "" && (c.GetReason() != test.reason || ab.Status.ObservedGeneration != 2) {
				t.Errorf("SubjectsBound is %s with %q: %q", c.Status, c.GetReason(), c.GetMessage())
			}
			w.has(t, "d", hasURL, true)
		})
	}
}
