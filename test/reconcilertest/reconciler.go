/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconcilertest

import (
	"context"
	"errors"
	"maps"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
)

// ErrInduced is the error of a request that fails because the test wants it to.
var ErrInduced = errors.New("induced")

// Promote has a generated reconciler lead all keys. enqueue is called for each object that it finds; nil ignores them.
func Promote(t testing.TB, r controller.Reconciler, enqueue func(reconciler.Bucket, types.NamespacedName)) {
	t.Helper()
	leader, ok := r.(reconciler.LeaderAware)
	if !ok {
		t.Fatalf("the reconciler is a %T, which is not leader-aware", r)
	}
	if enqueue == nil {
		enqueue = func(reconciler.Bucket, types.NamespacedName) {}
	}
	if err := leader.Promote(reconciler.UniversalBucket(), enqueue); err != nil {
		t.Fatal(err)
	}
}

// Run promotes and runs a controller with two workers until the test ends. ctx, cancel and informers are the results of
// SetupFakeContextWithCancel.
func Run(ctx context.Context, t *testing.T, cancel context.CancelFunc, informers []controller.Informer, impl *controller.Impl) {
	t.Helper()
	Promote(t, impl.Reconciler, impl.MaybeEnqueueBucketKey)
	stopped, err := reconcilertesting.RunAndSyncInformers(ctx, informers...)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- impl.RunContext(ctx, 2) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		stopped()
	})
}

// Indexer returns an empty cache like that of an informer with these indexes, nil for none.
func Indexer(indexers cache.Indexers) cache.Indexer {
	all := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	maps.Copy(all, indexers)
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, all)
}

// StatusOnly has a status update write only the status, as the API server does; the fake clients write the whole object. It is for
// PrependReactor("update", "RESOURCE/status", …) of the clientset whose tracker it is given.
func StatusOnly[T runtime.Object](tracker clientgotesting.ObjectTracker, copyStatus func(to, from T)) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		update, ok := action.(clientgotesting.UpdateAction)
		if !ok {
			return false, nil, nil
		}
		given, ok := update.GetObject().(T)
		if !ok {
			return false, nil, nil
		}
		name, err := cache.ObjectToName(given)
		if err != nil {
			return true, nil, err
		}
		stored, err := tracker.Get(action.GetResource(), name.Namespace, name.Name)
		if err != nil {
			return true, nil, err
		}
		written, ok := stored.DeepCopyObject().(T)
		if !ok {
			return false, nil, nil
		}
		copyStatus(written, given)
		return true, written, tracker.Update(action.GetResource(), written, name.Namespace)
	}
}

// Failing has requests fail. The resource may have a subresource, such as "pods/status", or be "*" for all.
func Failing(verb, resource string, err error) clientgotesting.ReactionFunc {
	return func(action clientgotesting.Action) (bool, runtime.Object, error) {
		return action.Matches(verb, resource) || resource == "*" && action.GetVerb() == verb, nil, err
	}
}

// Warning is a Warning event as the fake recorder writes it.
func Warning(reason, message string) string { return "Warning " + reason + " " + message }

// Normal is a Normal event as the fake recorder writes it.
func Normal(reason, message string) string { return "Normal " + reason + " " + message }

// DuckCRD returns the established CRD of kind Duck of example.com/v1, changed by the functions.
func DuckCRD(mods ...func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "ducks.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: "Duck", Plural: "ducks"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v0"}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}},
		},
	}
	for _, mod := range mods {
		mod(crd)
	}
	return crd
}
