/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

var configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// parent is a ConfigMap as the owner of others.
type parent struct{ *corev1.ConfigMap }

// GetGroupVersionKind implements kmeta.OwnerRefable.
func (parent) GetGroupVersionKind() schema.GroupVersionKind { return configMapKind }

// reconciled records the names of the keys that a controller reconciles.
type reconciled struct {
	mu    sync.Mutex
	names []string
}

// Reconcile implements controller.Reconciler.
func (r *reconciled) Reconcile(_ context.Context, key string) error {
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return fmt.Errorf("parsing a key: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, name.Name)
	return nil
}

func (r *reconciled) count(name string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.names {
		if other == name {
			n++
		}
	}
	return n
}

// await waits until a name has been reconciled one more time than before.
func (r *reconciled) await(t *testing.T, name string, before int) {
	t.Helper()
	harness.Eventually(t, name+" is reconciled", func(context.Context) error {
		if r.count(name) <= before {
			return fmt.Errorf("it was reconciled %d times", before)
		}
		return nil
	})
}

// control starts a controller.
func (s *scene) control(wire func(*controller.Impl) error) (*reconciled, error) {
	r := &reconciled{}
	impl := controller.NewContext(s.ctx, r, controller.ControllerOptions{WorkQueueName: "wired", Logger: zap.NewNop().Sugar()})
	err := wire(impl)
	go func() { _ = impl.RunContext(s.ctx, 1) }()
	return r, err
}

// createParent creates a ConfigMap that the source does not select.
func (s *scene) createParent(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	created, err := s.kube.CoreV1().ConfigMaps(s.ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "parent"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// createChild creates a ConfigMap with an owner.
func (s *scene) createChild(t *testing.T, name string, owner *corev1.ConfigMap) {
	t.Helper()
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"it": "1"}, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, configMapKind)},
	}}
	if _, err := s.kube.CoreV1().ConfigMaps(s.ns).Create(t.Context(), child, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestWire_OwnedObjectDeletedWhileTheWatchIsDown_EnqueuesTheOwner(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		r, err := s.control(func(impl *controller.Impl) error {
			return observe.Wire(s.ctx, impl, observe.Owns(s.configMaps(), parent{}))
		})
		if err != nil {
			t.Fatal(err)
		}
		s.createChild(t, "child", s.createParent(t))
		r.await(t, "parent", 0)
		before := r.count("parent")
		s.interrupt(t, func() { s.delete(t, "child") })
		r.await(t, "parent", before)
	})
}

// TestBaseline_OwnedObjectDeletedWhileTheWatchIsDown_DoesNotEnqueueTheOwner shows what the filters of knative.dev/pkg miss. When it fails, they
// have been repaired.
func TestBaseline_OwnedObjectDeletedWhileTheWatchIsDown_DoesNotEnqueueTheOwner(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		informer := coreinformers.NewFilteredConfigMapInformer(kubeclient.Get(s.ctx), s.ns, 0, nil, func(o *metav1.ListOptions) { o.LabelSelector = "it" })
		r, err := s.control(func(impl *controller.Impl) error {
			_, err := informer.AddEventHandler(cache.FilteringResourceEventHandler{
				FilterFunc: controller.FilterControllerGVK(configMapKind), Handler: controller.HandleAll(impl.EnqueueControllerOf),
			})
			return err
		})
		missed := make(chan struct{})
		_, watching := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
			if _, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				close(missed)
			}
		}})
		if err := errors.Join(err, watching); err != nil {
			t.Fatal(err)
		}
		go informer.RunWithContext(s.ctx)
		owner := s.createParent(t)
		s.createChild(t, "child", owner)
		r.await(t, "parent", 0)
		s.interrupt(t, func() { s.delete(t, "child") })
		awaitClosed(t, missed, "the informer finds the deletion")
		// The filtering handler may receive the deletion after the other one. An addition that comes later arrives after it.
		before := r.count("parent")
		s.createChild(t, "second", owner)
		r.await(t, "parent", before)
		if n := r.count("parent"); n != 2 {
			t.Errorf("the owner was reconciled %d times for two additions and a deletion that was missed, want 2 times", n)
		}
	})
}

func TestWire_ForAndTracks_EnqueueTheObjectAndWhatTracksIt(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var impl *controller.Impl
		r, err := s.control(func(i *controller.Impl) error {
			impl = i
			return observe.Wire(s.ctx, impl, observe.For(s.configMaps()), observe.Tracks(s.configMaps(), configMapKind))
		})
		if err != nil {
			t.Fatal(err)
		}
		tracking := parent{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "tracking"}}}
		if err := impl.Tracker.TrackReference(tracker.Reference{APIVersion: "v1", Kind: "ConfigMap", Namespace: s.ns, Name: "it"}, tracking); err != nil {
			t.Fatal(err)
		}
		for _, change := range []func(){
			func() { s.create(t, "it", "1") }, func() { s.update(t, "it", "2") }, func() { s.delete(t, "it") },
		} {
			before := []int{r.count("it"), r.count("tracking")}
			change()
			r.await(t, "it", before[0])
			r.await(t, "tracking", before[1])
		}
		if got := slices.Compact(slices.Sorted(slices.Values(r.names))); !slices.Equal(got, []string{"it", "tracking"}) {
			t.Errorf("reconciled were %q", got)
		}
	})
}
