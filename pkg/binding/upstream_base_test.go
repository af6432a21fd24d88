/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
	ducktesting "knative.dev/pkg/testing/duck"
	"knative.dev/pkg/tracker"
	"knative.dev/pkg/webhook/psbinding"
)

var errInduced = errors.New("induced")

// factory has the informer of Deployments.
type factory struct{ deployments cache.Indexer }

func (f factory) Get(context.Context, schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	return nil, cache.NewGenericLister(f.deployments, schema.GroupResource{Group: "apps", Resource: "deployments"}), nil
}

// ignorant tracks nothing.
type ignorant struct{ tracker.Interface }

func (ignorant) TrackReference(tracker.Reference, any) error { return nil }

// upstreamBase is psbinding's BaseReconciler for a binding to Deployment ns/it, which is in its cache if there is one.
func upstreamBase(t *testing.T, deployment *duckv1.WithPod) (*psbinding.BaseReconciler, *ducktesting.TestBindable, *dynamicfake.FakeDynamicClient, *record.FakeRecorder) {
	t.Helper()
	binding, ok := upstreamBinding("apps/v1", "Deployment").(*ducktesting.TestBindable)
	if !ok {
		t.Fatal("the test's binding is no TestBindable_Kinds_ReportsWhetherTheyHaveAShape")
	}
	gvr := schema.GroupVersionResource{Group: "duck.knative.dev", Version: "v1", Resource: "testbindables"}
	binding.Finalizers = []string{gvr.GroupResource().String()}
	binding.Spec.Subject.Selector, binding.Spec.Subject.Name = nil, "it"
	deployments := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if deployment != nil {
		if err := deployments.Add(deployment); err != nil {
			t.Fatal(err)
		}
	}
	namespaces := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if err := namespaces.Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}); err != nil {
		t.Fatal(err)
	}
	client, recorder := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), record.NewFakeRecorder(10)
	// Every write fails but that of the namespace's labels.
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetResource().Resource == "namespaces" {
			return true, nil, nil
		}
		return true, nil, errInduced
	})
	base := &psbinding.BaseReconciler{
		GVR: gvr, DynamicClient: client, Recorder: recorder, Factory: factory{deployments}, Tracker: ignorant{},
		Get:             func(string, string) (psbinding.Bindable, error) { return binding, nil },
		NamespaceLister: corev1listers.NewNamespaceLister(namespaces),
	}
	base.PromoteFunc = func(reconciler.Bucket, func(reconciler.Bucket, types.NamespacedName)) error { return nil }
	if err := base.Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Fatal(err)
	}
	return base, binding, client, recorder
}

func cachedDeployment() *duckv1.WithPod {
	return &duckv1.WithPod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "it"},
		Spec:       duckv1.WithPodSpec{Template: duckv1.PodSpecable{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}},
	}
}

// The next reconciliation sees the desired state in the cache, and does nothing.
func TestUpstream_FailedWrite_ChangesTheCache(t *testing.T) {
	deployment := cachedDeployment()
	base, binding, _, _ := upstreamBase(t, deployment)
	if err := base.ReconcileSubject(t.Context(), binding, binding.Do); !errors.Is(err, errInduced) {
		t.Fatalf("got error %v, want the induced one", err)
	}
	if len(deployment.Spec.Template.Spec.Containers[0].Env) == 0 {
		t.Errorf("the object in the cache stays as it is%s", stillNeeded)
	}
}

func TestUpstream_Bindings_LabelNamespaces(t *testing.T) {
	base, binding, client, _ := upstreamBase(t, cachedDeployment())
	if err := base.ReconcileSubject(t.Context(), binding, binding.Do); !errors.Is(err, errInduced) {
		t.Fatalf("got error %v, want the induced one", err)
	}
	for _, action := range client.Actions() {
		if patch, ok := action.(clienttesting.PatchAction); ok && patch.GetResource().Resource == "namespaces" && strings.Contains(string(patch.GetPatch()), "bindings.knative.dev/include") {
			return
		}
	}
	t.Errorf("the namespace keeps its labels%s", stillNeeded)
}

func TestUpstream_MissingSubject_IsRetried(t *testing.T) {
	base, binding, _, recorder := upstreamBase(t, nil)
	// So the write of the status does not fail first.
	binding.Status.MarkBindingUnavailable("SubjectMissing", `deployments.apps "it" not found`)
	binding.Status.SetObservedGeneration(binding.Generation)
	err := base.Reconcile(t.Context(), "ns/deployment")
	if err == nil || controller.IsPermanentError(err) {
		t.Errorf("the queue receives %v%s", err, stillNeeded)
	}
	select {
	case event := <-recorder.Events:
		if !strings.Contains(event, "InternalError") {
			t.Errorf("the event is %s%s", event, stillNeeded)
		}
	default:
		t.Errorf("nothing is said of it%s", stillNeeded)
	}
}
