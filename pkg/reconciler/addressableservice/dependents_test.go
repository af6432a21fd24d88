/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	fakedynamic "k8s.io/client-go/dynamic/fake"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// among returns the dependents among some objects, with the directory of the tests.
func among(t *testing.T, objs ...*v1.AddressableService) dependents {
	t.Helper()
	indexer := addressableServices.NewIndexer()
	for _, obj := range objs {
		if err := indexer.Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	return dependents{objects: observe.NewLister[*v1.AddressableService](indexer), config: storeOf(t, map[string]string{"directory-namespace": directory})}
}

func storeOf(t *testing.T, data map[string]string) *config.Store {
	t.Helper()
	store := config.NewStore(logtesting.TestLogger(t))
	cm := &corev1.ConfigMap{Data: data}
	cm.Name = config.AddressableName
	store.OnConfigChanged(cm)
	return store
}

// namesOf returns the names of keys, each once.
func namesOf(keys []types.NamespacedName) []string {
	names := sets.New[string]()
	for _, key := range keys {
		names.Insert(key.Name)
	}
	return sets.List(names)
}

func TestDependents_EachSource_EnqueuesWhomItConcerns(t *testing.T) {
	on := among(t,
		object("plain"), object("publishes", asAl), object("waits", asAl), object("publishes-else", publishedAs("else")),
		object("refers", toDuck), object("refers-v2", withRef("example.com/v2", "Duck", "", "d")),
		object("to-b", refTo("b")), object("to-one", withRef("v1", "Service", "", "one")),
		object("moves", asAl, recorded(directory, formerDirectory)),
		object("denied", withRef("v1", "Service", "elsewhere", "one")),
		object("foreign", withClass("other"), asAl, toDuck), object("nobodys", withoutClass, asAl, toDuck),
	)
	allowing := dependents{objects: on.objects, config: storeOf(t, map[string]string{"allow-cross-namespace-references": "true"})}
	former := func(s *corev1.Service) { s.Namespace = formerDirectory }
	crd := func(mods ...func(*apiextensionsv1.CustomResourceDefinition)) []types.NamespacedName {
		mapper, addressables := mapperOf(t)
		return on.onCRD(mapper, addressables)(observe.Event[*apiextensionsv1.CustomResourceDefinition]{Type: observe.Added, Object: duckCRD(mods...)})
	}
	for name, tc := range map[string]struct {
		keys []types.NamespacedName
		want []string
	}{
		"a target, even of another class, enqueues the objects that refer to it":                {on.onObject(object("b", withClass("other"))), []string{"to-b"}},
		"an object without references to it":                                                    {on.onObject(object("plain")), []string{}},
		"a Service enqueues the objects whose target it is":                                     {on.onService(service(ns, "one")), []string{"to-one"}},
		"a Service enqueues no object of another namespace, because such references are denied": {on.onService(service("elsewhere", "one")), []string{}},
		"if they are allowed, it does":                                                          {allowing.onService(service("elsewhere", "one")), []string{"denied"}},
		"a Service without references to it":                                                    {on.onService(service(ns, "unknown")), []string{}},
		"a Service in the directory enqueues the objects that request its name":                 {on.onService(service(directory, "al")), []string{"moves", "publishes", "waits"}},
		"an alias enqueues its owner too":                                                       {on.onService(alias("al", "plain", host)), []string{"moves", "plain", "publishes", "waits"}},
		"an alias in a former directory enqueues its owner":                                     {on.onService(alias("al", "moves", host, former)), []string{"moves"}},
		"a Service that claims to be an alias outside of any directory":                         {on.onService(alias("al", "moves", host, claimed)), []string{}},
		"one in the former directory of another object":                                         {on.onService(alias("al", "plain", host, former)), []string{}},
		"the directory enqueues the objects that publish":                                       {on.onNamespace(namespace(directory)), []string{"moves", "publishes", "publishes-else", "waits"}},
		"another namespace": {on.onNamespace(namespace("other")), []string{}},
		"an Addressable enqueues whose target it is, whichever the version":        {on.onDuck(duckOf(ns, "d")), []string{"refers", "refers-v2"}},
		"a cluster-scoped one, in every namespace":                                 {on.onDuck(duckOf("", "d")), []string{"refers", "refers-v2"}},
		"one of another namespace":                                                 {on.onDuck(duckOf("elsewhere", "d")), []string{}},
		"a version enqueues the objects that refer to it":                          {on.onServed(sets.New(schema.GroupVersion{Group: "example.com", Version: "v2"})), []string{"refers-v2"}},
		"a CRD enqueues the objects that refer to its kind, whichever the version": {crd(), []string{"refers", "refers-v2"}},
		"a CRD without references to its kind":                                     {crd(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Names.Kind = "Goose" }), []string{}},
		"the configuration enqueues all of our class": {
			on.onConfig(), []string{"denied", "moves", "plain", "publishes", "publishes-else", "refers", "refers-v2", "to-b", "to-one", "waits"},
		},
	} {
		if got := namesOf(tc.keys); !slices.Equal(got, tc.want) {
			t.Errorf("%s: enqueued are %q, want %q", name, got, tc.want)
		}
	}
}

func TestIsOurs_ClassAnnotation(t *testing.T) {
	for name, tc := range map[string]struct {
		as   *v1.AddressableService
		want bool
	}{
		"our class":     {object("it"), true},
		"another class": {object("it", withClass("other")), false},
		"no class":      {object("it", withoutClass), false},
	} {
		if got := isOurs(tc.as); got != tc.want {
			t.Errorf("an object of %s is ours: %t, want %t", name, got, tc.want)
		}
	}
}

// mapperOf returns a Mapper of no kind, and the Addressables of a cluster with ducks and geese.
func mapperOf(t *testing.T) (*restmapping.Mapper, *ducks.Factory) {
	t.Helper()
	client := fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		{Group: "example.com", Version: "v1", Resource: "ducks"}: "DuckList",
		{Group: "example.com", Version: "v1", Resource: "geese"}: "GooseList",
	})
	mapper, err := restmapping.NewMapper(t.Context(), crds.NewIndexer(), nil, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	return mapper, ducks.New(t.Context(), client, &duckv1.AddressableType{}, nil, func(sets.Set[schema.GroupVersion]) {})
}

func duckOf(namespace, name string) *duckv1.AddressableType {
	return &duckv1.AddressableType{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Duck"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
}

func TestDependents_KindNoLongerServed_StopsItsInformer(t *testing.T) {
	unserved := func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Served = false }
	for name, tc := range map[string]struct {
		event observe.Type
		crd   *apiextensionsv1.CustomResourceDefinition
		ends  bool
	}{
		"still served":       {observe.Updated, duckCRD(), false},
		"added":              {observe.Added, duckCRD(), false},
		"version unserved":   {observe.Updated, duckCRD(unserved), true},
		"deleted":            {observe.Deleted, duckCRD(), true},
		"another is deleted": {observe.Deleted, duckCRD(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Names.Plural = "swans" }), false},
	} {
		t.Run(name, func(t *testing.T) {
			mapper, addressables := mapperOf(t)
			isRead := func(resource string) bool {
				_, err := addressables.Lister(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: resource})
				return err == nil
			}
			if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true,
				func(context.Context) (bool, error) { return isRead("ducks") && isRead("geese"), nil }); err != nil {
				t.Fatal(err)
			}
			among(t).onCRD(mapper, addressables)(observe.Event[*apiextensionsv1.CustomResourceDefinition]{Type: tc.event, Object: tc.crd})
			if got := !isRead("ducks"); got != tc.ends {
				t.Errorf("another informer was needed afterwards: %t", got)
			}
			if !isRead("geese") {
				t.Error("the informer of another resource was ended")
			}
		})
	}
}
