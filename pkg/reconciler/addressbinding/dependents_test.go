/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fakediscovery "k8s.io/client-go/discovery/fake"
	fakekube "k8s.io/client-go/kubernetes/fake"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// among returns the dependents among some bindings.
func among(t *testing.T, objs ...*v1.AddressBinding) *dependents {
	t.Helper()
	indexer := addressBindings.NewIndexer()
	for _, obj := range objs {
		if err := indexer.Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	return newDependents(observe.NewLister[*v1.AddressBinding](indexer))
}

// stopped records the resources, of ducks and geese, whose informers were stopped.
type stopped []string

// Stop implements stopper.
func (s *stopped) Stop(match func(schema.GroupVersionResource) bool) {
	for _, resource := range []string{"ducks", "geese"} {
		if match(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: resource}) {
			*s = append(*s, resource)
		}
	}
}

func newMapper(t *testing.T) *restmapping.Mapper {
	t.Helper()
	discovery := &fakediscovery.FakeDiscovery{Fake: &fakekube.NewSimpleClientset().Fake}
	discovery.Resources = builtIn
	mapper, err := restmapping.NewMapper(t.Context(), crds.NewIndexer(), discovery, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	return mapper
}

// namesOf returns the names of keys, each once.
func namesOf(keys []types.NamespacedName) []string {
	names := sets.New[string]()
	for _, key := range keys {
		names.Insert(key.Name)
	}
	return sets.List(names)
}

func live(mods ...func(*duckv1.WithPod)) *duckv1.WithPod {
	d := &duckv1.WithPod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "d", UID: "uid-d", Generation: 1, ResourceVersion: "1", Labels: map[string]string{"app": "x"}},
	}
	for _, m := range mods {
		m(d)
	}
	return d
}

// An event of a subject is checked against every binding of its namespace, so a tenant with many bindings could delay the events of others.
func TestDependents_SubjectEvent_ParsesNoSelectorAgain(t *testing.T) {
	selecting, subject := object("a", bySelector), live()
	w := among(t, selecting)
	if !w.concerns(selecting, subject) {
		t.Fatal("the binding does not choose the subject")
	}
	if allocations := testing.AllocsPerRun(100, func() { w.concerns(selecting, subject) }); allocations > 0 {
		t.Errorf("got %v allocations to match a subject again, want none", allocations)
	}
	changed := selecting.DeepCopy()
	changed.Spec.Subject.Selector.MatchLabels["app"] = "y"
	if w.concerns(changed, subject) {
		t.Error("the binding is found by the selector that it had before")
	}
}

// added, updated and deleted are events of sources.
func added[T observe.Object](object T) observe.Event[T] {
	return observe.Event[T]{Type: observe.Added, Object: object}
}

func updated[T observe.Object](old, object T) observe.Event[T] {
	return observe.Event[T]{Type: observe.Updated, Old: old, Object: object}
}

func deleted[T observe.Object](object T) observe.Event[T] {
	return observe.Event[T]{Type: observe.Deleted, Object: object, Old: object}
}

func asDuck(d *duckv1.WithPod) ducks.Object { return d }

func TestDependents_EachSource_EnqueuesAffectedBindings(t *testing.T) {
	elsewhere := func(ab *v1.AddressBinding) { ab.Spec.Subject.Name, ab.Spec.Address.Name = "other", "other" }
	on := among(t,
		object("a", well, elsewhere), object("rival", well, elsewhere), object("of-peer", elsewhere, withVariable("PEER"), status(records(deploymentKind), intercepted)),
		object("of-ducks", elsewhere, withSubject("example.com/v1", "Duck", "k")),
		object("was-of-ducks", elsewhere, status(records(duckKind, deploymentKind), intercepted)),
		object("elsewhere", func(ab *v1.AddressBinding) { ab.Namespace = "elsewhere" }, status(records(deploymentKind), intercepted)),
		object("names-d", withVariable("N"), func(ab *v1.AddressBinding) { ab.Spec.Address.Name = "other" }),
		object("selects-x", bySelector, withVariable("S"), func(ab *v1.AddressBinding) { ab.Spec.Address.Name = "other" }),
		object("of-hello", withSubject("apps/v1", "Deployment", "other"), withVariable("T")),
	)
	inNamespace := []string{"a", "names-d", "of-ducks", "of-hello", "of-peer", "rival", "selects-x", "was-of-ducks"}
	changed := func(mods ...mod) *v1.AddressBinding {
		return object("a", append([]mod{well, func(ab *v1.AddressBinding) { ab.ResourceVersion = "2" }}, mods...)...)
	}
	newer := func(d *duckv1.WithPod) { d.ResourceVersion = "2" }
	others := webhooks()
	others.Name = "other"
	crd := func(e observe.Event[*apiextensionsv1.CustomResourceDefinition]) []types.NamespacedName {
		return on.onCRD(newMapper(t), &stopped{})(e)
	}
	toDeployments := webhooks(schema.GroupResource{Group: "apps", Resource: "deployments"})

	for name, tc := range map[string]struct {
		keys []types.NamespacedName
		want []string
	}{
		"a new binding enqueues its rivals":                          {on.onBinding(added(object("a"))), []string{"rival", "was-of-ducks"}},
		"a change of its conditions":                                 {on.onBinding(updated(object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Conditions = nil }))), []string{}},
		"a change of its value":                                      {on.onBinding(updated(object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Value = other }))), []string{"rival", "was-of-ducks"}},
		"a version that is not served":                               {on.onBinding(updated(object("a", well), changed(status(notBoundBy(v1.ReasonSubjectKindNotFound, "no"), resolvedTo(url), records(deploymentKind))))), []string{"rival", "was-of-ducks"}},
		"a change of the kinds that it may have written to":          {on.onBinding(updated(object("a", well), changed(func(ab *v1.AddressBinding) { ab.Status.Kinds = nil }))), []string{"rival", "was-of-ducks"}},
		"the beginning of its deletion":                              {on.onBinding(updated(object("a", well), changed(beingDeleted))), []string{"rival", "was-of-ducks"}},
		"another variable: those who want either":                    {on.onBinding(updated(object("a", well), changed(withVariable("PEER")))), []string{"of-peer", "rival", "was-of-ducks"}},
		"an AddressableService enqueues the bindings to its address": {on.onAddressableService(hello(url)), []string{"of-hello"}},

		"a subject enqueues the bindings that name or select it": {on.onSubject(added(asDuck(live()))), []string{"names-d", "selects-x"}},
		"one that is changed":                                                 {on.onSubject(updated(asDuck(live()), asDuck(live(newer, func(d *duckv1.WithPod) { d.Generation = 2 })))), []string{"names-d", "selects-x"}},
		"one whose status changes enqueues nothing":                           {on.onSubject(updated(asDuck(live()), asDuck(live(newer)))), []string{}},
		"one without generations":                                             {on.onSubject(updated(asDuck(live(func(d *duckv1.WithPod) { d.Generation = 0 })), asDuck(live(newer, func(d *duckv1.WithPod) { d.Generation = 0 })))), []string{"names-d", "selects-x"}},
		"one that leaves a selector enqueues the bindings with that selector": {on.onSubject(updated(asDuck(live()), asDuck(live(newer, func(d *duckv1.WithPod) { d.Labels = nil; d.Name = "d" })))), []string{"names-d", "selects-x"}},
		"one that is recreated":                                               {on.onSubject(updated(asDuck(live()), asDuck(live(newer, func(d *duckv1.WithPod) { d.UID = "new" })))), []string{"names-d", "selects-x"}},
		"one that begins to go":                                               {on.onSubject(updated(asDuck(live()), asDuck(live(newer, func(d *duckv1.WithPod) { d.DeletionTimestamp = &metav1.Time{} })))), []string{"names-d", "selects-x"}},
		"one whose mark is dropped":                                           {on.onSubject(updated(asDuck(live(func(d *duckv1.WithPod) { d.Annotations = map[string]string{samples.BoundVariablesAnnotationKey: "{}"} })), asDuck(live(newer)))), []string{"names-d", "selects-x"}},
		"one with another annotation":                                         {on.onSubject(updated(asDuck(live()), asDuck(live(newer, func(d *duckv1.WithPod) { d.Annotations = map[string]string{"a": "b"} })))), []string{}},
		"one that gets a controller":                                          {on.onSubject(updated(asDuck(live()), asDuck(live(newer, func(d *duckv1.WithPod) { d.OwnerReferences = []metav1.OwnerReference{{Controller: new(true)}} })))), []string{"names-d", "selects-x"}},
		"one of a former kind":                                                {on.onSubject(added(asDuck(live(func(d *duckv1.WithPod) { d.APIVersion, d.Kind = "example.com/v2", "Duck" })))), []string{"was-of-ducks"}},
		"one that no binding selects":                                         {on.onSubject(added(asDuck(live(func(d *duckv1.WithPod) { d.Name, d.Labels = "e", nil })))), []string{}},

		"a namespace enqueues all in it":                        {on.onNamespace(added(namespace())), inNamespace},
		"one that opts out":                                     {on.onNamespace(updated(namespace(), namespace(optedOut))), inNamespace},
		"one without webhooks":                                  {on.onNamespace(updated(namespace(), namespace(withoutWebhooks))), inNamespace},
		"one with another label enqueues nothing":               {on.onNamespace(updated(namespace(), namespace(func(n *corev1.Namespace) { n.Labels["a"] = "b" }))), []string{}},
		"a CRD enqueues those of its kind, and those that were": {crd(added(reconcilertest.DuckCRD())), []string{"of-ducks", "was-of-ducks"}},
		"a CRD of another group":                                {crd(added(reconcilertest.DuckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Group = "other.com" }))), []string{}},

		"rules that exist enqueue those that lacked them":    {on.onWebhook(added(toDeployments)), []string{}},
		"rules that are missing enqueue those that had them": {on.onWebhook(updated(toDeployments, webhooks())), []string{"a", "elsewhere", "of-peer", "rival", "was-of-ducks"}},
		"those of others": {on.onWebhook(added(others)), []string{}},

		"a binding that is deleted":   {on.onBinding(deleted(object("a", well))), []string{"rival", "was-of-ducks"}},
		"a subject that is deleted":   {on.onSubject(deleted(asDuck(live()))), []string{"names-d", "selects-x"}},
		"a namespace that is deleted": {on.onNamespace(deleted(namespace())), inNamespace},
		"rules that are deleted":      {on.onWebhook(deleted(toDeployments)), []string{"a", "elsewhere", "of-peer", "rival", "was-of-ducks"}},
		"a version that is served": {
			on.onServed(sets.New(schema.GroupVersion{Group: "example.com", Version: "v1"})), []string{"of-ducks", "was-of-ducks"},
		},
	} {
		if got := namesOf(tc.keys); !slices.Equal(got, tc.want) {
			t.Errorf("%s: enqueued are %q, want %q", name, got, tc.want)
		}
	}
}

func TestDependents_CRDDeleted_InformerEnds(t *testing.T) {
	var s stopped
	onCRD := among(t).onCRD(newMapper(t), &s)
	onCRD(added(reconcilertest.DuckCRD()))
	if len(s) > 0 {
		t.Errorf("the informers of %q were ended though they are served", s)
	}
	onCRD(deleted(reconcilertest.DuckCRD()))
	if !slices.Equal(s, []string{"ducks"}) {
		t.Errorf("the informers of %q were ended, want that of ducks", s)
	}
}
