/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/hash"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestLeader_Buckets_DivideTheKeys(t *testing.T) {
	var objs []*v1.AddressableService
	for i := range 20 {
		objs = append(objs, object(func(as *v1.AddressableService) { as.Name = fmt.Sprint("it-", i) }))
	}
	worked := map[string]int{}
	w := newWorld(t, reconciling{func(_ context.Context, as *v1.AddressableService) reconciler.Event {
		worked[as.Name]++
		return nil
	}}, controller.Options{}, objs...)
	reconciliations := func() (skipped int) {
		for _, as := range objs {
			if err := w.Reconcile(w.ctx, ns+"/"+as.Name); controller.IsSkipKey(err) {
				skipped++
			} else if err != nil {
				t.Fatal(err)
			}
		}
		return skipped
	}
	if skipped := reconciliations(); skipped != len(objs) || len(worked) != 0 {
		t.Errorf("before it leads anything it skips %d and works on %v", skipped, worked)
	}

	buckets := hash.NewBucketSet(sets.New("one", "two")).Buckets()
	var offered []types.NamespacedName
	if err := w.Promote(buckets[0], func(_ reconciler.Bucket, key types.NamespacedName) { offered = append(offered, key) }); err != nil {
		t.Fatal(err)
	}
	if len(offered) != len(objs) {
		t.Errorf("a promotion offers %d keys to the queue, want all %d", len(offered), len(objs))
	}
	skipped := reconciliations()
	for _, as := range objs {
		if has := buckets[0].Has(types.NamespacedName{Namespace: ns, Name: as.Name}); has != (worked[as.Name] == 1) {
			t.Errorf("%s is in the bucket: %t, worked on %d times", as.Name, has, worked[as.Name])
		}
	}
	if len(worked) == 0 || skipped == 0 || len(worked)+skipped != len(objs) {
		t.Errorf("as the leader of one of two buckets it skips %d and works on %d", skipped, len(worked))
	}

	w.Demote(buckets[0])
	if skipped := reconciliations(); skipped != len(objs) {
		t.Errorf("after it was demoted it skips %d, want all", skipped)
	}
}

func TestLeader_Standby_CallsObserveKind(t *testing.T) {
	var observed []string
	var gone []types.NamespacedName
	observer := observing{
		reconciling: reconciling{returning(nil)},
		observe: func(_ context.Context, as *v1.AddressableService) reconciler.Event {
			observed = append(observed, as.Name)
			mark(as)
			return normal()
		},
		gone: func(key types.NamespacedName) { gone = append(gone, key) },
	}
	w := newWorld(t, observer, controller.Options{}, object(withFinalizers()))
	if err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(observed, []string{"a"}) || len(w.client.Actions()) > 0 {
		t.Errorf("observed is %q, written is %v, want nothing: not the leader", observed, w.client.Actions())
	}
	if got := w.events(); !slices.Equal(got, []string{"Normal Worked it worked 1 time"}) {
		t.Errorf("the events are %q", got)
	}

	if err := w.objects.Update(object(beingDeleted)); err != nil {
		t.Fatal(err)
	}
	if err := w.reconcile(); err != nil || len(observed) != 1 {
		t.Errorf("an object that is being deleted is observed, too: %q, %v", observed, err)
	}
	if err := w.objects.Delete(object()); err != nil {
		t.Fatal(err)
	}
	if err := w.reconcile(); err != nil || len(gone) != 1 {
		t.Errorf("called for a deleted object: %v, %v", gone, err)
	}

	if err := w.objects.Add(object()); err != nil {
		t.Fatal(err)
	}
	w.lead(t)
	if err := w.reconcile(); err != nil || len(observed) != 1 {
		t.Errorf("a leader observes: %q, %v", observed, err)
	}
	if err := w.objects.Delete(object()); err != nil {
		t.Fatal(err)
	}
	if err := w.reconcile(); err != nil || len(gone) != 2 {
		t.Errorf("a leader is called for a deleted object: %v, %v", gone, err)
	}
}

func TestClass_AnotherClass_IsIgnored(t *testing.T) {
	for name, class := range map[string]func(*v1.AddressableService){
		"another": func(as *v1.AddressableService) { as.Annotations[samples.ClassAnnotationKey] = "another" },
		"none":    func(as *v1.AddressableService) { as.Annotations = nil },
	} {
		t.Run(name, func(t *testing.T) {
			called := false
			call := func(context.Context, *v1.AddressableService) reconciler.Event {
				called = true
				return errInduced
			}
			for _, as := range []*v1.AddressableService{object(class), object(class, beingDeleted)} {
				w := leading(t, finalizing{reconciling{call}, call}, as)
				if err := w.reconcile(); err != nil || called || len(w.client.Actions()) > 0 {
					t.Errorf("the reconciliation ends with %v; called is %t, written %v", err, called, w.client.Actions())
				}
			}
		})
	}
}
