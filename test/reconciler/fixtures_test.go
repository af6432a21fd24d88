/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	fakesamples "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/fake"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
)

const (
	ns   = "ns"
	key  = ns + "/a"
	root = "../.."
)

var errInduced = errors.New("induced")

// function is the common signature of ReconcileKind, FinalizeKind and ObserveKind.
type function = func(context.Context, *v1.AddressableService) reconciler.Event

// returning is a function that does nothing else.
func returning(result reconciler.Event) function {
	return func(context.Context, *v1.AddressableService) reconciler.Event { return result }
}

// reconciling implements what every reconciler has to.
type reconciling struct{ reconcile function }

func (r reconciling) ReconcileKind(ctx context.Context, as *v1.AddressableService) reconciler.Event {
	return r.reconcile(ctx, as)
}

// finalizing implements the generated Finalizer as well.
type finalizing struct {
	reconciling

	finalize function
}

func (f finalizing) FinalizeKind(ctx context.Context, as *v1.AddressableService) reconciler.Event {
	return f.finalize(ctx, as)
}

// observing implements the generated ReadOnlyInterface and reconciler.OnDeletionInterface as well.
type observing struct {
	reconciling

	observe function
	gone    func(types.NamespacedName)
}

func (o observing) ObserveKind(ctx context.Context, as *v1.AddressableService) reconciler.Event {
	return o.observe(ctx, as)
}

func (o observing) ObserveDeletion(_ context.Context, key types.NamespacedName) error {
	o.gone(key)
	return nil
}

var (
	_ addressableservicereconciler.Interface         = reconciling{}
	_ addressableservicereconciler.Finalizer         = finalizing{}
	_ addressableservicereconciler.ReadOnlyInterface = observing{}
	_ reconciler.OnDeletionInterface                 = observing{}
)

// object is ns/a as it is after it was created: of our class, with our finalizer, without a status.
func object(mods ...func(*v1.AddressableService)) *v1.AddressableService {
	as := &v1.AddressableService{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: "a", UID: "uid", Generation: 1, ResourceVersion: "1",
			Annotations: map[string]string{samples.ClassAnnotationKey: samples.ClassMallard},
			Finalizers:  []string{samples.FinalizerName},
		},
		Spec: v1.AddressableServiceSpec{Ref: v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"}},
	}
	for _, mod := range mods {
		mod(as)
	}
	return as
}

func beingDeleted(as *v1.AddressableService) {
	as.DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// mark changes the status in a way that can be told from every other.
func mark(as *v1.AddressableService) { as.Status.MarkTargetNotResolved("Marked", "by the test") }

func isMarked(as *v1.AddressableService) bool {
	c := as.Status.GetCondition(v1.AddressableServiceConditionTargetResolved)
	return c != nil && c.Reason == "Marked"
}

// generated is a constructor that injection-gen generates.
type generated interface {
	controller.Reconciler
	reconciler.LeaderAware
}

// world is a generated reconciler and all that it sees and writes to.
type world struct {
	generated

	ctx      context.Context //nolint:containedctx // it is that of the test
	client   *fakesamples.Clientset
	objects  cache.Indexer
	recorder *record.FakeRecorder
}

// newWorld returns a reconciler that leads nothing yet, around one that is written by hand.
func newWorld(t *testing.T, inner addressableservicereconciler.Interface, options controller.Options, objs ...*v1.AddressableService) *world {
	t.Helper()
	w := &world{
		ctx:      logtesting.TestContextWithLogger(t),
		objects:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		recorder: record.NewFakeRecorder(100),
	}
	var stored []runtime.Object
	for _, as := range objs {
		stored = append(stored, as)
		if err := w.objects.Add(as); err != nil {
			t.Fatal(err)
		}
	}
	w.client = fakesamples.NewSimpleClientset(stored...)
	if options.FinalizerName == "" {
		options.FinalizerName = samples.FinalizerName
	}
	made, ok := addressableservicereconciler.NewReconciler(w.ctx, logging.FromContext(w.ctx), w.client,
		listers.NewAddressableServiceLister(w.objects), w.recorder, inner, samples.ClassMallard, options).(generated)
	if !ok {
		t.Fatal("a generated reconciler is not leader-aware")
	}
	w.generated = made
	return w
}

// leading is a world whose reconciler leads everything.
func leading(t *testing.T, inner addressableservicereconciler.Interface, objs ...*v1.AddressableService) *world {
	t.Helper()
	w := newWorld(t, inner, controller.Options{}, objs...)
	w.lead(t)
	return w
}

func (w *world) lead(t *testing.T) {
	t.Helper()
	if err := w.Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Fatal(err)
	}
}

// reconcile is one call of the generated Reconcile, for ns/a.
func (w *world) reconcile() error { return w.Reconcile(w.ctx, key) }

// events returns the events that were recorded since its last call.
func (w *world) events() []string {
	var events []string
	for {
		select {
		case e := <-w.recorder.Events:
			events = append(events, e)
		default:
			return events
		}
	}
}

// statuses returns the objects that were sent to the status subresource.
func (w *world) statuses() []*v1.AddressableService {
	var sent []*v1.AddressableService
	for _, action := range w.client.Actions() {
		if update, ok := action.(clientgotesting.UpdateAction); ok && action.Matches("update", "addressableservices/status") {
			if as, ok := update.GetObject().(*v1.AddressableService); ok {
				sent = append(sent, as)
			}
		}
	}
	return sent
}

// patches returns the bodies of the patches, which only the finalizer is written by.
func (w *world) patches() []string {
	var sent []string
	for _, action := range w.client.Actions() {
		if patch, ok := action.(clientgotesting.PatchAction); ok {
			sent = append(sent, string(patch.GetPatch()))
		}
	}
	return sent
}

func normal() reconciler.Event {
	return reconciler.NewEvent(corev1.EventTypeNormal, "Worked", "it worked %d time", 1)
}

func warning() reconciler.Event {
	return reconciler.NewEvent(corev1.EventTypeWarning, "Broke", "it broke")
}
