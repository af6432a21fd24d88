/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

func newFIFO(known cache.KeyListerGetter) *cache.RealFIFO {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
}

// poppedAll returns the contents of the queue, as text.
func poppedAll(t *testing.T, fifo *cache.RealFIFO) (deltas []string) {
	t.Helper()
	fifo.Close()
	for {
		_, err := fifo.Pop(func(obj any, _ bool) error {
			for _, delta := range obj.(cache.Deltas) {
				deltas = append(deltas, string(delta.Type)+" "+describe(delta.Object))
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			return deltas
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// must ends a test that cannot be prepared.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestFIFO_ByDefault_IsTheRealFIFOWithBatches(t *testing.T) {
	for _, gate := range []clientfeatures.Feature{clientfeatures.InOrderInformers, clientfeatures.InOrderInformersBatchProcess} {
		if !clientfeatures.FeatureGates().Enabled(gate) {
			t.Errorf("%s is disabled", gate)
		}
	}
}

func TestFIFO_ChangesOfOneObject_AreNotCombined(t *testing.T) {
	fifo := newFIFO(cache.NewStore(cache.MetaNamespaceKeyFunc))
	one, two, three := it("a", "1"), it("a", "2"), it("a", "3")
	must(t, fifo.Add(&one), fifo.Update(&two), fifo.Update(&three))
	if got, want := poppedAll(t, fifo), []string{"Added a@1", "Updated a@2", "Updated a@3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFIFO_Batch_HasEachKeyOnce(t *testing.T) {
	fifo := newFIFO(cache.NewStore(cache.MetaNamespaceKeyFunc))
	a, b, again := it("a", "1"), it("b", "2"), it("a", "3")
	must(t, fifo.Add(&a), fifo.Add(&b), fifo.Update(&again))
	var batches [][]string
	for range 2 {
		must(t, fifo.PopBatch(func(deltas []cache.Delta, _ bool) error {
			var batch []string
			for _, delta := range deltas {
				batch = append(batch, describe(delta.Object))
			}
			batches = append(batches, batch)
			return nil
		}))
	}
	if want := [][]string{{"a@1", "b@2"}, {"a@3"}}; !slices.EqualFunc(batches, want, slices.Equal) {
		t.Errorf("got %q, want %q", batches, want)
	}
}

func TestFIFO_ProcessingFails_IsNotRepeated(t *testing.T) {
	fifo := newFIFO(cache.NewStore(cache.MetaNamespaceKeyFunc))
	one := it("a", "1")
	must(t, fifo.Add(&one))
	if _, err := fifo.Pop(func(any, bool) error { return errInduced }); !errors.Is(err, errInduced) {
		t.Errorf("got error %v", err)
	}
	if got := poppedAll(t, fifo); len(got) > 0 {
		t.Errorf("left are %q", got)
	}
}

func TestFIFO_Replace_DeletesWhatIsQueuedOrKnownFirst(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	stored, queued, stays := it("stored", "1"), it("queued", "2"), it("stays", "4")
	must(t, known.Add(&stored))
	fifo := newFIFO(known)
	must(t, fifo.Add(&queued), fifo.Replace([]any{&stays}, "4"))
	want := []string{"Added queued@2", "Deleted tombstone of queued@2", "Deleted tombstone of stored@1", "Replaced stays@4"}
	if got := poppedAll(t, fifo); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFIFO_Resync_RepeatsWhatIsKnownAndNotQueued(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	stored, changed, newer := it("stored", "1"), it("changed", "2"), it("changed", "3")
	must(t, known.Add(&stored), known.Add(&changed))
	fifo := newFIFO(known)
	must(t, fifo.Update(&newer), fifo.Resync())
	if got, want := poppedAll(t, fifo), []string{"Updated changed@3", "Sync stored@1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// logged returns the log of client-go during a function, at verbosity 2.
func logged(t *testing.T, f func()) string {
	t.Helper()
	var text bytes.Buffer
	var verbosity klog.Level
	klog.SetOutput(&text)
	must(t, verbosity.Set("2"))
	f()
	must(t, verbosity.Set("0"))
	klog.SetOutput(io.Discard)
	return text.String()
}

func TestFIFO_ProcessingIsSlow_IsLoggedIfMoreThanTenEntriesWait(t *testing.T) {
	for name, tc := range map[string]struct {
		waiting int
		slow    time.Duration
		want    bool
	}{
		"slow, and eleven wait": {waiting: 11, slow: 101 * time.Millisecond, want: true},
		"slow, and ten wait":    {waiting: 10, slow: 101 * time.Millisecond},
		"fast, and eleven wait": {waiting: 11, slow: 99 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fifo := newFIFO(cache.NewStore(cache.MetaNamespaceKeyFunc))
				for i := range tc.waiting + 1 {
					changed := it("a", strconv.Itoa(i))
					must(t, fifo.Update(&changed))
				}
				text := logged(t, func() {
					must(t, fifo.PopBatch(func([]cache.Delta, bool) error {
						time.Sleep(tc.slow) //nolint:forbidigo // A bubble of synctest does not wait.
						return nil
					}))
				})
				if got := strings.Contains(text, "RealFIFO PopBatch Process"); got != tc.want {
					t.Errorf("logged is %q, want a trace: %t", text, tc.want)
				}
			})
		})
	}
}

func TestInformer_DeletionIsMissed_TombstoneHasTheLastKnownState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5", it("a", "3"), it("b", "4"))
		informer, calls := s.informer(t, 0), newRecorded()
		add(t, informer, calls)
		run(t, informer)
		first := s.watched(t)
		got := []string{receive(t, calls, "a"), receive(t, calls, "b")}
		slices.Sort(got)
		if want := []string{"add a@3 listed=true", "add b@4 listed=true"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		s.set("9", it("b", "8"))
		first.Error(&errExpired.ErrStatus)
		calls.expect(t, "delete tombstone of a@3", "update b@4 to b@8")
	})
}

func TestInformer_ObjectWasRecreatedUnnoticed_IsOneUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5", it("a", "3", "old"))
		informer, calls := s.informer(t, 0), newRecorded()
		add(t, informer, calls)
		run(t, informer)
		first := s.watched(t)
		calls.expect(t, "add old@3 listed=true")
		s.set("9", it("a", "8", "new"))
		first.Error(&errExpired.ErrStatus)
		calls.expect(t, "update old@3 to new@8")
	})
}
