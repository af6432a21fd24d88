/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tracker

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/tracker"
)

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: name}
}

func object(name string, labels ...string) *corev1.Service {
	o := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	o.APIVersion, o.Kind = "v1", "Service"
	for _, label := range labels {
		metav1.SetMetaDataLabel(&o.ObjectMeta, label, "")
	}
	return o
}

func byName(name string) tracker.Reference {
	return tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: "ns", Name: name}
}

func byLabel(label string) tracker.Reference {
	return tracker.Reference{APIVersion: "v1", Kind: "Service", Namespace: "ns", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{label: ""}}}
}

// reconcile is a reconciliation that tracks these references.
func reconcile(tb testing.TB, t *Tracker, name string, result error, references ...tracker.Reference) {
	tb.Helper()
	t.Begin(named(name))
	for _, ref := range references {
		if err := t.TrackReference(ref, object(name)); err != nil {
			tb.Fatal(err)
		}
	}
	t.End(named(name), result)
}

func newTracker() (t *Tracker, enqueued *[]types.NamespacedName) {
	enqueued = &[]types.NamespacedName{}
	return New(func(key types.NamespacedName) { *enqueued = append(*enqueued, key) }), enqueued
}

func expectObservers(tb testing.TB, t *Tracker, of *corev1.Service, want ...string) {
	tb.Helper()
	var got []string
	for _, key := range t.GetObservers(of) {
		got = append(got, key.Name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		tb.Errorf("%s with labels %v is observed by %v, want %v", of.Name, of.Labels, got, want)
	}
}

func expectEmpty(tb testing.TB, t *Tracker) {
	tb.Helper()
	if n := len(t.observers) + len(t.targets); n != 0 {
		tb.Errorf("%d entries are left", n)
	}
}

func TestTracker_References_FindTheirObservers(t *testing.T) {
	tr, _ := newTracker()
	reconcile(t, tr, "a", nil, byName("x"))
	reconcile(t, tr, "b", nil, byName("x"), byName("y"), byLabel("x"))
	reconcile(t, tr, "c", nil, byLabel("x"), byLabel("y"))
	expectObservers(t, tr, object("x"), "a", "b")
	expectObservers(t, tr, object("y"), "b")
	expectObservers(t, tr, object("z"))
	expectObservers(t, tr, object("z", "x"), "b", "c")
	expectObservers(t, tr, object("z", "y"), "c")
	expectObservers(t, tr, object("x", "x", "y"), "a", "b", "c")
	other := object("x", "x")
	other.Namespace = "other"
	expectObservers(t, tr, other)
	other = object("x", "x")
	other.APIVersion = "v2"
	expectObservers(t, tr, other)
}

func TestTracker_NewReference_EnqueuesItsObjectOnce(t *testing.T) {
	tr, enqueued := newTracker()
	for range 3 {
		reconcile(t, tr, "a", nil, byName("x"), byLabel("x"))
	}
	if want := []types.NamespacedName{named("a"), named("a")}; !slices.Equal(*enqueued, want) {
		t.Errorf("enqueued are %v, want %v", *enqueued, want)
	}
	*enqueued = nil
	tr.OnChanged(object("x", "x"))
	if want := []types.NamespacedName{named("a")}; !slices.Equal(*enqueued, want) {
		t.Errorf("a change enqueues %v, want %v", *enqueued, want)
	}
}

func TestTracker_InvalidReference_IsRejected(t *testing.T) {
	tr, _ := newTracker()
	both, invalid := byLabel("x"), byLabel("-")
	both.Name = "x"
	for _, ref := range []tracker.Reference{{APIVersion: "v1", Kind: "Service"}, both, invalid} {
		if err := tr.TrackReference(ref, object("a")); err == nil {
			t.Errorf("%v is accepted", ref)
		}
	}
	if err := tr.TrackReference(byName("x"), "a string"); err == nil {
		t.Error("a string is accepted as the observer")
	}
	expectEmpty(t, tr)
}

func TestTracker_Reconciliation_ReplacesReferences(t *testing.T) {
	failed := errors.New("induced")
	for name, tc := range map[string]struct {
		reason  string
		result  error
		tracked []tracker.Reference
		want    []string
	}{
		"Replaced":  {"It succeeded.", nil, []tracker.Reference{byName("new")}, nil},
		"None":      {"It has no reference left.", nil, nil, nil},
		"Same":      {"It was tracked again.", nil, []tracker.Reference{byName("old"), byName("new")}, []string{"a"}},
		"Failed":    {"Its retry tracks again what it did not get to.", failed, []tracker.Reference{byName("new")}, nil},
		"Postponed": {"The reconciler was not called.", failed, nil, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			tr, _ := newTracker()
			reconcile(t, tr, "a", nil, byName("old"), byLabel("old"))
			references := tc.tracked
			if len(tc.want) > 0 && len(references) > 0 {
				references = append(references, byLabel("old"))
			}
			reconcile(t, tr, "a", tc.result, references...)
			t.Log(tc.reason)
			expectObservers(t, tr, object("old"), tc.want...)
			expectObservers(t, tr, object("other", "old"), tc.want...)
		})
	}
}

func TestTracker_ReferenceChangesOften_IsForgotten(t *testing.T) {
	tr, _ := newTracker()
	selectors := []tracker.Reference{byLabel("even"), byLabel("odd")}
	for i := range 200_000 {
		// Few labels, because parsing a selector takes long.
		reconcile(t, tr, "a", nil, byName(strconv.Itoa(i)), selectors[i%len(selectors)])
		if len(tr.observers[named("a")].references) != 2 || len(tr.targets) != 2 {
			t.Fatalf("after %d changes %d references are kept", i, len(tr.observers[named("a")].references))
		}
	}
	expectObservers(t, tr, object("0", "even"))
}

// If this fails, knative.dev/pkg/tracker forgets as well, and this package may be deleted.
func TestUpstreamTracker_ReferenceChanges_IsStillKept(t *testing.T) {
	upstream := tracker.New(func(types.NamespacedName) {}, time.Hour)
	for _, name := range []string{"first", "second"} {
		if err := upstream.TrackReference(byName(name), object("a")); err != nil {
			t.Fatal(err)
		}
	}
	if len(upstream.GetObservers(object("first"))) == 0 {
		t.Error("the first reference is forgotten")
	}
}

// The cost of a deletion is the number of the object's own references, whatever others track.
func TestTracker_ObserversAreDeleted_OnlyTheirReferencesAreVisited(t *testing.T) {
	const objects = 20_000
	tr, _ := newTracker()
	for i := range objects {
		reconcile(t, tr, strconv.Itoa(i), nil, byName(strconv.Itoa(i)), byLabel("x"))
	}
	for i := range objects {
		if n := len(tr.observers[named(strconv.Itoa(i))].references); n != 2 {
			t.Fatalf("a deletion visits %d references, want 2", n)
		}
		tr.OnDeletedObserver(object(strconv.Itoa(i)))
		left := objects - 1 - i
		// All of them refer to the kind, too.
		if len(tr.observers) != left || len(tr.targets) != left+min(left, 1) {
			t.Fatalf("after %d deletions %d objects are left", i+1, len(tr.observers))
		}
	}
	expectEmpty(t, tr)
}

// What changes after it was tracked enqueues the object, also while its reconciliation is under way.
func TestTracker_ConcurrentUse_LosesNoChange(t *testing.T) {
	const workers, rounds = 8, 500
	var mu sync.Mutex
	enqueued := map[types.NamespacedName]int{}
	tr := New(func(key types.NamespacedName) {
		mu.Lock()
		defer mu.Unlock()
		enqueued[key]++
	})
	count := func(key types.NamespacedName) int {
		mu.Lock()
		defer mu.Unlock()
		return enqueued[key]
	}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			name := fmt.Sprint("worker-", worker)
			for i := range rounds {
				own, shared := byName(fmt.Sprint(worker, "-", i)), byLabel("x")
				tr.Begin(named(name))
				if err := errors.Join(tr.TrackReference(own, object(name)), tr.TrackReference(shared, object(name))); err != nil {
					t.Error(err)
				}
				before := count(named(name))
				tr.OnChanged(object(own.Name))
				if count(named(name)) == before {
					t.Errorf("%s misses the change of %s during its reconciliation", name, own.Name)
				}
				tr.End(named(name), nil)
				before = count(named(name))
				tr.OnChanged(object("any", "x"))
				if count(named(name)) == before {
					t.Errorf("%s misses the change of what it selects", name)
				}
			}
			tr.OnDeletedObserver(object(name))
		})
	}
	group.Wait()
	expectEmpty(t, tr)
}
