/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	fakediscovery "k8s.io/client-go/discovery/fake"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	fakekube "k8s.io/client-go/kubernetes/fake"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	fakesamples "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/fake"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// caches are the informers' caches.
type caches struct{ bindings, addressableServices, namespaces, crds, webhooks cache.Indexer }

func newCaches(objs ...runtime.Object) caches {
	indexer := func() cache.Indexer { return reconcilertest.Indexer(nil) }
	c := caches{bindings: indexer(), addressableServices: indexer(), namespaces: indexer(), crds: indexer(), webhooks: indexer()}
	for _, obj := range objs {
		var err error
		switch obj := obj.(type) {
		case *v1.AddressBinding:
			err = c.bindings.Add(obj)
		case *v1.AddressableService:
			err = c.addressableServices.Add(obj)
		case *corev1.Namespace:
			err = c.namespaces.Add(obj)
		case *apiextensionsv1.CustomResourceDefinition:
			err = c.crds.Add(obj)
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			err = c.webhooks.Add(obj)
		}
		if err != nil {
			panic(err)
		}
	}
	return c
}

// world is everything that a reconciliation sees and writes to.
type world struct {
	caches

	samples   *fakesamples.Clientset
	dynamic   *fakedynamic.FakeDynamicClient
	discovery *fakediscovery.FakeDiscovery
	recorder  *record.FakeRecorder
	clock     *clocktesting.FakeClock
	inner     *Reconciler

	// reconciler is the generated one around inner.
	reconciler controller.Reconciler
}

var subjectLists = map[schema.GroupVersionResource]string{
	{Group: "apps", Version: "v1", Resource: "deployments"}:  "DeploymentList",
	{Group: "apps", Version: "v1", Resource: "statefulsets"}: "StatefulSetList",
	{Group: "apps", Version: "v1", Resource: "replicasets"}:  "ReplicaSetList",
	{Group: "batch", Version: "v1", Resource: "jobs"}:        "JobList",
	{Group: "batch", Version: "v1", Resource: "cronjobs"}:    "CronJobList",
	{Group: "example.com", Version: "v1", Resource: "ducks"}: "DuckList",
}

// builtIn lists the API groups of Kubernetes as discovery does.
var builtIn = []*metav1.APIResourceList{{
	GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Namespaced: true}, {Name: "nodes", Kind: "Node"}},
}, {
	GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
		{Name: "deployments/status", Kind: "Deployment", Namespaced: true},
		{Name: "deployments", Kind: "Deployment", Namespaced: true},
		{Name: "statefulsets", Kind: "StatefulSet", Namespaced: true},
		{Name: "replicasets", Kind: "ReplicaSet", Namespaced: true},
	},
}, {
	GroupVersion: "batch/v1", APIResources: []metav1.APIResource{
		{Name: "jobs", Kind: "Job", Namespaced: true}, {Name: "cronjobs", Kind: "CronJob", Namespaced: true},
	},
}}

// newWorld returns a world in which these objects exist: subjects only on the server, from where an informer reads them, and
// all others in the caches.
func newWorld(t testing.TB, objs ...runtime.Object) *world {
	t.Helper()
	w := &world{
		caches:   newCaches(objs...),
		recorder: record.NewFakeRecorder(1000),
		clock:    clocktesting.NewFakeClock(time.Unix(1_000_000, 0)),
	}
	var ours, subjects []runtime.Object
	for _, obj := range objs {
		switch obj.(type) {
		case *v1.AddressBinding:
			ours = append(ours, obj)
		case *unstructured.Unstructured:
			subjects = append(subjects, obj.DeepCopyObject())
		}
	}
	w.samples = fakesamples.NewSimpleClientset(ours...)
	w.samples.PrependReactor("update", "addressbindings/status",
		reconcilertest.StatusOnly(w.samples.Tracker(), func(to, from *v1.AddressBinding) { to.Status = from.Status }))
	w.dynamic = fakedynamic.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), subjectLists, subjects...)
	w.discovery = &fakediscovery.FakeDiscovery{Fake: &fakekube.NewSimpleClientset().Fake}
	w.discovery.Resources = builtIn

	ctx, cancel := context.WithCancel(logtesting.TestContextWithLogger(t))
	t.Cleanup(cancel)
	w.dynamic.PrependReactor("patch", "*", patchedAnew(w.dynamic.Tracker()))
	mapper, err := restmapping.NewMapper(ctx, w.crds, w.discovery, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	w.inner = &Reconciler{
		dynamic:             w.dynamic,
		bindings:            listers.NewAddressBindingLister(w.bindings),
		addressableServices: listers.NewAddressableServiceLister(w.addressableServices),
		namespaces:          corev1listers.NewNamespaceLister(w.namespaces),
		webhooks:            admissionlisters.NewMutatingWebhookConfigurationLister(w.webhooks),
		mapper:              mapper,
		subjects:            newShapes(ctx, w.dynamic, func(sets.Set[schema.GroupVersion]) {}),
		expectations:        expectations.New(nil),
		attempts:            newAttempts(w.clock),
		failures:            failures.NewWithClock(w.clock),
	}
	generated := addressbindingreconciler.NewReconciler(ctx, logging.FromContext(ctx), w.samples, w.inner.bindings, w.recorder, w.inner,
		controller.Options{FinalizerName: samples.AddressBindingFinalizerName})
	reconcilertest.Promote(t, generated, nil)
	w.reconciler = generated
	return w
}

// sync waits until the caches of subjects have what the server has, and copies the bindings of the server to their cache.
func (w *world) sync(t testing.TB) {
	t.Helper()
	bindings, err := w.samples.SamplesV1().AddressBindings(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range bindings.Items {
		if err := w.bindings.Update(&bindings.Items[i]); err != nil {
			t.Fatal(err)
		}
	}
	// What reads them has to begin before they can be waited for.
	for _, obj := range w.bindings.List() {
		ab := obj.(*v1.AddressBinding)
		for _, gvk := range append([]schema.GroupVersionKind{subjectGVK(ab)}, recordedKinds(ab)...) {
			w.await(t, func() (bool, error) { return w.synced(gvk) })
		}
	}
}

// synced reports whether the cache of a kind has what the server has, or cannot have it.
func (w *world) synced(gvk schema.GroupVersionKind) (bool, error) {
	served, err := w.inner.mapper.Map(gvk)
	if errors.Is(err, restmapping.ErrNotKnown) || err != nil {
		return !errors.Is(err, restmapping.ErrNotKnown), nil
	}
	if _, listable := subjectLists[served.Resource]; !listable {
		return true, nil
	}
	lister, err := w.inner.subjects[binding.ShapeOf(gvk.GroupKind(), served.Labels)].Lister(served.Resource)
	if err != nil {
		return !errors.Is(err, ducks.ErrNotSynced), nil
	}
	live, err := w.dynamic.Tracker().List(served.Resource, gvk, ns)
	if err != nil {
		return false, err
	}
	items := live.(*unstructured.UnstructuredList).Items
	for i := range items {
		obj, err := lister.ByNamespace(ns).Get(items[i].GetName())
		if err != nil || obj.(metav1.Object).GetResourceVersion() != items[i].GetResourceVersion() {
			return false, nil //nolint:nilerr // the cache does not have it yet
		}
	}
	all, err := lister.ByNamespace(ns).List(labels.Everything())
	return len(all) == len(items), err
}

func recordedKinds(ab *v1.AddressBinding) []schema.GroupVersionKind {
	var found []schema.GroupVersionKind
	for _, k := range ab.Status.Kinds {
		found = append(found, schema.FromAPIVersionAndKind(k.APIVersion, k.Kind))
	}
	return found
}

func (w *world) await(t testing.TB, done func() (bool, error)) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true, func(context.Context) (bool, error) { return done() })
	if err != nil {
		t.Fatalf("the caches do not become what the server has: %v", err)
	}
}

// reconcile runs one reconciliation of a binding on caches that have everything, and returns its error.
func (w *world) reconcile(t testing.TB, name string) error {
	t.Helper()
	w.sync(t)
	return w.reconciler.Reconcile(t.Context(), ns+"/"+name)
}

// finalize reconciles a binding that is being deleted, and again after the webhooks know of the deletion. It returns the last error.
func (w *world) finalize(t testing.TB, name string) error {
	t.Helper()
	if err := w.reconcile(t, name); err == nil {
		return nil
	}
	w.clock.Step(settling)
	return w.reconcile(t, name)
}

// settle reconciles bindings in turn until one round writes nothing.
func (w *world) settle(t testing.TB, names ...string) {
	t.Helper()
	for range 10 {
		before := w.writes()
		for _, name := range names {
			if err := w.reconcile(t, name); err != nil {
				if requeue, _ := controller.IsRequeueKey(err); !requeue {
					t.Fatal(err)
				}
			}
		}
		if w.writes() == before {
			return
		}
	}
	t.Fatal("ten rounds do not suffice")
}

// writes counts the writes of the reconciler.
func (w *world) writes() int {
	n := 0
	for _, action := range append(w.samples.Actions(), w.dynamic.Actions()...) {
		if verb := action.GetVerb(); verb == "patch" || verb == "update" {
			n++
		}
	}
	return n
}

// patches returns the names of the subjects that were patched since the last call, in order.
func (w *world) patches() []string {
	names := []string{}
	for _, action := range w.dynamic.Actions() {
		if patch, ok := action.(clientgotesting.PatchAction); ok {
			names = append(names, patch.GetName())
		}
	}
	w.dynamic.ClearActions()
	return names
}

// binding returns a binding as the server has it, nil if it is deleted.
func (w *world) binding(t testing.TB, name string) *v1.AddressBinding {
	t.Helper()
	ab, err := w.samples.SamplesV1().AddressBindings(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ab
}

// update changes a binding, as a user does.
func (w *world) update(t testing.TB, name string, change mod) {
	t.Helper()
	ab := w.binding(t, name)
	change(ab)
	ab.Generation++
	if _, err := w.samples.SamplesV1().AddressBindings(ns).Update(t.Context(), ab, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// loseStatuses takes the statuses of bindings, as the restoration of a backup does.
func (w *world) loseStatuses(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		ab := w.binding(t, name)
		ab.Status = v1.AddressBindingStatus{}
		if _, err := w.samples.SamplesV1().AddressBindings(ns).UpdateStatus(t.Context(), ab, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// check fails unless SubjectsBound of a binding is as wanted; an empty reason stands for True.
func (w *world) check(t testing.TB, name, reason, message string) {
	t.Helper()
	c := w.binding(t, name).Status.GetCondition(v1.AddressBindingConditionSubjectsBound)
	if c.GetReason() != reason || c.GetMessage() != message || c.IsTrue() != (reason == "") {
		t.Errorf("SubjectsBound of %s is %s with reason %q: %q, want %q: %q", name, c.Status, c.GetReason(), c.GetMessage(), reason, message)
	}
}

// env returns the variables of the container of a subject, and whether it is marked.
func (w *world) env(t testing.TB, resource schema.GroupVersionResource, name string) (string, bool) {
	t.Helper()
	obj, err := w.dynamic.Tracker().Get(resource, ns, name)
	if err != nil {
		t.Fatal(err)
	}
	u := obj.(*unstructured.Unstructured)
	containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	var found []string
	variables, _ := containers[0].(map[string]any)["env"].([]any)
	for _, v := range variables {
		v := v.(map[string]any)
		found = append(found, fmt.Sprintf("%v=%v", v["name"], v["value"]))
	}
	_, isMarked := u.GetAnnotations()[samples.BoundVariablesAnnotationKey]
	return strings.Join(found, ","), isMarked
}

// has fails unless the container of a Deployment has these variables, and the mark or not.
func (w *world) has(t testing.TB, name, want string, marked bool) {
	t.Helper()
	if got, isMarked := w.env(t, deploymentsVersion, name); got != want || isMarked != marked {
		t.Errorf("%s has %q, marked: %t, want %q, marked: %t", name, got, isMarked, want, marked)
	}
}

// change replaces a subject on the server, as a user does.
func (w *world) change(t testing.TB, resource schema.GroupVersionResource, subject *unstructured.Unstructured) {
	t.Helper()
	old, err := w.dynamic.Tracker().Get(resource, ns, subject.GetName())
	if err != nil {
		t.Fatal(err)
	}
	subject.SetGeneration(old.(*unstructured.Unstructured).GetGeneration() + 1)
	subject.SetResourceVersion(strconv.FormatInt(subject.GetGeneration(), 10))
	if err := w.dynamic.Tracker().Update(resource, subject, ns); err != nil {
		t.Fatal(err)
	}
}

var deploymentsResource = schema.GroupResource{Group: "apps", Resource: "deployments"}

// patchedAnew gives patched objects another resourceVersion and generation, as the API server does and the fake does not: without them, the event of
// our patch looks as if nothing had changed.
func patchedAnew(tracker clientgotesting.ObjectTracker) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		_, obj, err := clientgotesting.ObjectReaction(tracker)(action)
		if err != nil {
			return true, nil, err
		}
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return true, nil, fmt.Errorf("patched is a %T", obj)
		}
		u = u.DeepCopy()
		u.SetGeneration(u.GetGeneration() + 1)
		u.SetResourceVersion(strconv.FormatInt(u.GetGeneration(), 10))
		return true, u, tracker.Update(action.GetResource(), u, u.GetNamespace())
	}
}
