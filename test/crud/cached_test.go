/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// cacheOf gives a client a cache that returns the present value of a variable.
func cacheOf(object *crud.Object) func(*crud.Options) {
	return func(options *crud.Options) {
		options.Cached = func(schema.GroupVersionResource, types.NamespacedName) crud.Object { return *object }
	}
}

// The listers are typed. The PodTemplate differs from its desired state by defaults of the API server, and by a quantity that it formats in another way.
func TestCached_Lister_ServesObjectsThatAreAsDesired(t *testing.T) {
	var lister func(resource schema.GroupVersionResource, name types.NamespacedName) crud.Object
	s := newScene(t, func(options *crud.Options) {
		options.Cached = func(resource schema.GroupVersionResource, name types.NamespacedName) crud.Object {
			return lister(resource, name)
		}
	})
	factory := informers.NewSharedInformerFactoryWithOptions(s.env.Kube, 0, informers.WithNamespace(s.ns))
	configMapLister, podTemplateLister := factory.Core().V1().ConfigMaps().Lister(), factory.Core().V1().PodTemplates().Lister()
	lister = func(resource schema.GroupVersionResource, name types.NamespacedName) crud.Object {
		// Both return an object that is nil with an error.
		if resource == configMaps {
			found, _ := configMapLister.ConfigMaps(name.Namespace).Get(name.Name)
			return found
		}
		found, _ := podTemplateLister.PodTemplates(name.Namespace).Get(name.Name)
		return found
	}
	for resource, text := range map[string]string{
		"configmaps": `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {l: "%d"}}, data: {k: "1"}}`,
		"podtemplates": `
apiVersion: v1
kind: PodTemplate
metadata: {name: a, labels: {l: "%d"}}
template: {spec: {containers: [{name: c, image: example.com/i, resources: {requests: {cpu: 1000m}}}]}}`,
	} {
		desired := func(label int) crud.Operation { return crud.CreateOrUpdate(s.object(fmt.Sprintf(text, label))) }
		created := s.run(desired(1), crud.Created).Object
		factory.Start(t.Context().Done())
		factory.WaitForCacheSync(t.Context().Done())
		cached := func() crud.Object {
			return lister(corev1.SchemeGroupVersion.WithResource(resource), types.NamespacedName{Namespace: s.ns, Name: "a"})
		}
		harness.Eventually(t, "the cache has the object", func(context.Context) error {
			if object := cached(); reflect.ValueOf(object).IsNil() {
				return errors.New("it has not")
			}
			return nil
		})
		object := cached()
		before := object.DeepCopyObject()
		s.sent()
		for range 100 {
			if result := s.run(desired(1), crud.Unchanged); result.Object.GetUID() != created.GetUID() || result.Object.GetKind() != created.GetKind() {
				t.Fatalf("the result is %v", result.Object)
			}
		}
		s.expectSent(0, 0)
		s.run(desired(2), crud.Updated)
		s.expectSent(0, 1)
		if diff := cmp.Diff(before, object); diff != "" {
			t.Errorf("the object in the cache was changed (-before +after):\n%s", diff)
		}
	}
}

// Each case is a change by another client that the cache has not received, and the requests of an operation on data.k and a finalizer.
func TestCached_StateOfTheCacheIsOld_LosesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		change        func(s *scene)
		outcome       crud.Outcome
		reads, writes int
		want          string // data and number of finalizers
	}{
		"no change": {func(*scene) {}, crud.Updated, 0, 1, "map[k:2] 1"},
		"field":     {func(s *scene) { s.patch(configMaps, "a", `{"data":{"theirs":"1"}}`) }, crud.Updated, 1, 2, "map[k:2 theirs:1] 1"},
		"same field": {func(s *scene) {
			s.patch(configMaps, "a", `{"data":{"k":"2"},"metadata":{"finalizers":["example.com/mine"]}}`)
		}, crud.Unchanged, 1, 1, "map[k:2] 1"},
		"finalizer": {func(s *scene) {
			s.patch(configMaps, "a", `{"metadata":{"finalizers":["example.com/theirs"]}}`)
		}, crud.Updated, 1, 2, "map[k:2] 2"},
		"deleted": {func(s *scene) { s.remove("a") }, crud.Created, 1, 2, "map[k:2] 1"},
		"another object of the name": {func(s *scene) {
			s.recreate("a")
			s.patch(configMaps, "a", `{"data":{"theirs":"1"}}`)
		}, crud.Updated, 1, 2, "map[k:2 theirs:1] 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var cached crud.Object
			s := newScene(t, cacheOf(&cached))
			s.run(crud.Create(s.configMap("a", map[string]string{"k": "1"})), crud.Created)
			cached = s.get(configMaps, "a")
			tc.change(s)
			t.Cleanup(func() { s.tryRelease("a") })
			desired := s.configMap("a", map[string]string{"k": "2"})
			desired.Finalizers = []string{"example.com/mine"}
			s.sent()
			s.run(crud.CreateOrUpdate(desired), tc.outcome)
			s.expectSent(tc.reads, tc.writes)
			after := s.get(configMaps, "a")
			if got := fmt.Sprint(after.Object["data"], len(after.GetFinalizers())); got != tc.want {
				t.Errorf("the data and the number of finalizers are %s, want %s", got, tc.want)
			}
		})
	}
}

// The cache receives the writes of the client itself later.
func TestCached_OwnWriteIsNotInTheCache_IsNotForgotten(t *testing.T) {
	var cached crud.Object
	s := newScene(t, cacheOf(&cached))
	desired := func(value string) crud.Operation {
		return crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": value}))
	}
	s.run(desired("1"), crud.Created)
	s.expectSent(1, 1)
	cached = s.get(configMaps, "a")
	s.run(desired("2"), crud.Updated)
	s.expectSent(0, 1)
	s.run(desired("1"), crud.Updated)
	s.expectSent(1, 1)
	cached = s.get(configMaps, "a")
	s.run(crud.MergePatch(s.ref("ConfigMap", "a"), `{"data":{"k":"3"}}`), crud.Updated)
	s.sent()
	s.run(desired("1"), crud.Updated)
	s.expectSent(1, 1)
	cached = s.get(configMaps, "a")
	s.run(crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a")), crud.Deleted)
	s.sent()
	s.run(desired("1"), crud.Created)
	s.expectSent(1, 1)
	cached = s.get(configMaps, "a")
	s.run(desired("1"), crud.Unchanged)
	s.expectSent(0, 0)
}

// A state of the cache does not suffice to reject an operation.
func TestCached_StateWouldRejectTheOperation_IsRead(t *testing.T) {
	var cached crud.Object
	s := newScene(t, cacheOf(&cached))
	owner := s.run(crud.Create(s.configMap("owner", nil)), crud.Created).Object
	owned := s.configMap("a", map[string]string{"k": "1"})
	owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	created := s.run(crud.Create(owned), crud.Created).Object
	op := crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": "1"}))

	terminating := created.DeepCopy()
	now := metav1.Now()
	terminating.SetDeletionTimestamp(&now)
	cached = terminating
	s.sent()
	s.run(op, crud.Unchanged)
	s.expectSent(1, 0)

	free := created.DeepCopy()
	free.SetOwnerReferences(nil)
	cached = free
	ownedBy := op
	ownedBy.OwnedBy = owner.GetUID()
	s.run(ownedBy, crud.Unchanged)
	s.expectSent(1, 0)

	cached = created
	uid, version := created.GetUID(), created.GetResourceVersion()
	s.patch(configMaps, "a", `{"data":{"theirs":"1"}}`)
	precondition := op
	precondition.Preconditions.UID = &uid
	s.run(precondition, crud.Unchanged)
	s.expectSent(1, 0)
	precondition.Preconditions.ResourceVersion = &version
	s.fails(precondition, crud.Conflict)
	s.expectSent(1, 0)
}

func TestCached_Immutable_IsRecreated(t *testing.T) {
	var cached crud.Object
	s := newScene(t, cacheOf(&cached))
	desired := func(value string) crud.Operation {
		configMap := s.configMap("a", map[string]string{"k": value})
		configMap.Immutable = new(true)
		op := crud.CreateOrUpdate(configMap)
		op.OnImmutable, op.Wait = crud.Recreate, harness.Deadline
		return op
	}
	s.run(desired("1"), crud.Created)
	cached = s.get(configMaps, "a")
	s.run(desired("2"), crud.Replaced)
	s.remove("a")
	s.run(desired("3"), crud.Created)
}

// Server-side apply does not require a resourceVersion, so that the state from which it is made must be that of the API server.
func TestCached_Apply_ReadsBeforeItWrites(t *testing.T) {
	var cached crud.Object
	s := newScene(t, cacheOf(&cached))
	applied := func(size string) crud.Operation {
		op := crud.CreateOrUpdate(s.object(`{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: a}, spec: {size: ` + size + `}}`))
		op.Strategy = crud.Apply
		return op
	}
	s.run(applied("1"), crud.Created)
	cached = s.get(widgets, "a")
	s.sent()
	s.run(applied("1"), crud.Unchanged)
	s.expectSent(0, 0)
	s.run(applied("2"), crud.Updated)
	s.expectSent(1, 2) // it takes over the fields first
	cached = s.get(widgets, "a")
	s.run(applied("3"), crud.Updated)
	s.expectSent(1, 1)
}

func TestCached_WrongObject_IsReported(t *testing.T) {
	var wrong crud.Object
	s := newScene(t, cacheOf(&wrong))
	op := crud.CreateOrUpdate(s.configMap("a", nil))
	for want, object := range map[string]crud.Object{
		"/v1, Kind=ConfigMap " + s.ns + "/b": s.configMap("b", nil),
		"apps/v1, Kind=Deployment":           &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "a"}},
		"no resourceVersion":                 s.configMap("a", nil),
	} {
		wrong = object
		if message := s.fails(op, crud.Malformed); !strings.Contains(message, "crud.Options.Cached") || !strings.Contains(message, want) {
			t.Errorf("the message lacks %q: %s", want, message)
		}
	}
	s.expectSent(0, 0)
	var none *corev1.ConfigMap
	wrong = none // as a lister returns it with an error
	s.run(op, crud.Created)
	s.expectSent(1, 1)
}
