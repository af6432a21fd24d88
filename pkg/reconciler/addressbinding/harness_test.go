/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	expiring "k8s.io/apimachinery/pkg/util/cache"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	fakesamples "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/fake"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
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

	samples  *fakesamples.Clientset
	dynamic  *fakedynamic.FakeDynamicClient
	recorder *record.FakeRecorder
	clock    *clocktesting.FakeClock
	inner    *Reconciler
	// stale means that the informers of subjects have nothing.
	stale bool

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

// newWorld returns a world in which these objects exist: subjects only on the server, from where duckFactory reads them, and
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
	w.dynamic.PrependReactor("patch", "*", patchedAnew(w.dynamic.Tracker()))
	ctx := logtesting.TestContextWithLogger(t)
	w.inner = &Reconciler{
		dynamic:             w.dynamic,
		bindings:            listers.NewAddressBindingLister(w.bindings),
		addressableServices: listers.NewAddressableServiceLister(w.addressableServices),
		namespaces:          corev1listers.NewNamespaceLister(w.namespaces),
		crds:                apiextensionslisters.NewCustomResourceDefinitionLister(w.crds),
		webhooks:            admissionlisters.NewMutatingWebhookConfigurationLister(w.webhooks),
		subjects:            map[binding.Shape]duck.InformerFactory{},
		tracker:             tracker.New(func(types.NamespacedName) {}, time.Hour),
		clock:               w.clock,
		attempts:            expiring.NewExpiringWithClock(w.clock),
	}
	for _, shape := range []binding.Shape{binding.PodTemplate, binding.CronJob, binding.Configurable, binding.JobTemplate} {
		w.inner.subjects[shape] = &duckFactory{world: w, shape: shape}
	}
	generated := addressbindingreconciler.NewReconciler(ctx, logging.FromContext(ctx), w.samples, w.inner.bindings, w.recorder, w.inner,
		controller.Options{FinalizerName: samples.AddressBindingFinalizerName})
	reconcilertest.Promote(t, generated, nil)
	w.reconciler = generated
	return w
}

// duckFactory reads subjects as a hardened factory of informers does, whose caches have everything: objects that do not fit the duck type are as they are.
type duckFactory struct {
	*world

	shape binding.Shape
}

// Get implements duck.InformerFactory.
func (f *duckFactory) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	indexer := reconcilertest.Indexer(nil)
	lister := cache.NewGenericLister(indexer, gvr.GroupResource())
	list, err := f.dynamic.Resource(gvr).List(ctx, metav1.ListOptions{})
	if err != nil || f.stale {
		return nil, lister, err
	}
	for i := range list.Items {
		var object runtime.Object = &list.Items[i]
		if typed := f.shape.New(); duck.FromUnstructured(&list.Items[i], typed) == nil {
			object = typed
		}
		if err := indexer.Add(object); err != nil {
			return nil, nil, err
		}
	}
	return nil, lister, nil
}

// sync copies the bindings of the server to their cache.
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
