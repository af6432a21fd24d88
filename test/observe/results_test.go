/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

func TestObserver_Fails_IsCalledAgainAndOthersAreNotDelayed(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for name, fail := range map[string]func() error{
			"panic": func() error { panic("on purpose") },
			"error": func() error { return errors.New("on purpose") },
			"later": func() error { return controller.NewRequeueAfter(50 * time.Millisecond) },
		} {
			var j journal
			var calls atomic.Int64
			failing, other := "failing-"+name, "other-"+name
			s.subscribe(t, name, func(ctx context.Context, e observe.Event[*corev1.ConfigMap]) error {
				if e.Name.Name == failing && calls.Add(1) <= 3 {
					return fail()
				}
				return j.record(ctx, e)
			}, options{Where: func(cm *corev1.ConfigMap) bool { return cm.Name == failing || cm.Name == other }})
			s.create(t, failing, "1")
			s.create(t, other, "1")
			j.await(t, "Added "+failing, "Added "+other)
			if n := calls.Load(); n != 4 {
				t.Errorf("%s: the observer was called %d times for one event, want 4 times", name, n)
			}
		}
	})
}

func TestObserver_Panics_IsRepeatedWithWhatChangedSinceLoggedOnceAndCounted(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var j journal
		var merged atomic.Pointer[observe.Event[*corev1.ConfigMap]]
		var panicked atomic.Bool
		began, proceed := make(chan struct{}), make(chan struct{})
		name := "panics-" + s.ns
		s.subscribe(t, name, func(ctx context.Context, e observe.Event[*corev1.ConfigMap]) error {
			if e.Name.Name == "failing" {
				if panicked.CompareAndSwap(false, true) {
					close(began)
					<-proceed
					panic("on purpose")
				}
				merged.Store(&e)
			}
			return j.record(ctx, e)
		}, options{Workers: 2})
		s.create(t, "failing", "1")
		awaitClosed(t, began, "the call begins")
		s.update(t, "failing", "2")
		// The observer has received the change, too, once it is called with a later one.
		s.create(t, "other", "1")
		j.await(t, "Added other")
		close(proceed)
		j.await(t, "Added other", "Added failing")
		if e := merged.Load(); e.Object.Data["value"] != "2" || e.Folded != 2 {
			t.Errorf("repeated is the state %v, of %d notifications; want 2, of 2", e.Object.Data, e.Folded)
		}
		if n, m := s.calls(t, name, "panic"), s.calls(t, name, "success"); n != 1 || m != 2 {
			t.Errorf("%d panics and %d successes are counted, want 1 and 2", n, m)
		}
		entries := s.logs.FilterMessage("An observer panicked").FilterField(zap.String("observer", name)).All()
		if len(entries) != 1 || !strings.Contains(entries[0].ContextMap()["stack"].(string), "TestObserver_Panics_") {
			t.Errorf("logged is %+v, want one panic with its stack", entries)
		}
	})
}

// calls returns the number of calls of an observer that ended in a way.
func (s *scene) calls(t *testing.T, observer, result string) int64 {
	t.Helper()
	return counted(t, "observer.calls", map[string]string{"observer": observer, "result": result})
}

func TestObserver_PermanentError_DropsTheEvent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var j journal
		s.subscribe(t, "permanent", func(ctx context.Context, e observe.Event[*corev1.ConfigMap]) error {
			_ = j.record(ctx, e)
			return controller.NewPermanentError(errors.New("on purpose"))
		})
		s.create(t, "a", "1")
		j.await(t, "Added a")
		s.update(t, "a", "2")
		j.await(t, "Added a", "Updated a 1→2")
		s.delete(t, "a")
		j.await(t, "Added a", "Updated a 1→2", "Deleted a")
	})
}

func TestObserver_InlinePanics_IsSynced(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.create(t, "a", "1")
		s.settle(t, 1)
		var calls atomic.Int64
		// subscribe waits until the observer is synced.
		s.subscribe(t, "panics", func(context.Context, observe.Event[*corev1.ConfigMap]) error {
			calls.Add(1)
			panic("on purpose")
		}, options{Inline: true})
		if n := calls.Load(); n != 1 {
			t.Errorf("the observer was called %d times, want once", n)
		}
	})
}

func TestObserver_Timeout_EndsTheContextOfACall(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		var ended atomic.Int64
		s.subscribe(t, "timeout", func(ctx context.Context, _ observe.Event[*corev1.ConfigMap]) error {
			<-ctx.Done()
			ended.Add(1)
			return nil
		}, options{Timeout: time.Millisecond})
		s.create(t, "a", "1")
		harness.Eventually(t, "the call ends", func(context.Context) error {
			if ended.Load() == 0 {
				return errors.New("it runs")
			}
			return nil
		})
	})
}

// running is an informer as injection runs them.
type running struct{ cache.SharedIndexInformer }

// Informer is that of generated informers.
func (r running) Informer() cache.SharedIndexInformer { return r.SharedIndexInformer }

func TestInjected_ObjectsAreOfAnotherType_IsReportedAndOthersReceiveThem(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		informer := running{coreinformers.NewFilteredConfigMapInformer(kubeclient.Get(s.ctx), s.ns, 0, cache.Indexers{}, func(o *metav1.ListOptions) {
			o.LabelSelector = "it"
		})}
		go informer.RunWithContext(s.ctx)
		get := func(context.Context) running { return informer }
		for way, o := range map[string]observe.Options[*corev1.Secret]{"queued": {}, "inline": {Inline: true}} {
			name := way + "-" + s.ns
			wrong, err := observe.Subscribe(s.ctx, name, observe.Injected[*corev1.Secret](get), func(context.Context, observe.Event[*corev1.Secret]) error {
				t.Error("the observer is called with an object of another type")
				return nil
			}, o)
			if err != nil {
				t.Fatal(err)
			}
			others := newLedger()
			right, err := observe.Subscribe(s.ctx, "right-"+way, observe.Injected[*corev1.ConfigMap](get), others.enter)
			if err != nil {
				t.Fatal(err)
			}
			s.create(t, way, "1")
			harness.Eventually(t, "the type is reported", func(context.Context) error {
				if counted(t, "observer.mismatches", map[string]string{"observer": name}) == 0 {
					return errors.New("nothing is counted")
				}
				return nil
			})
			entries := s.logs.FilterMessage("A source delivers objects of another type").FilterField(zap.String("observer", name)).All()
			if len(entries) == 0 || entries[0].ContextMap()["want"] != "*v1.Secret" || entries[0].ContextMap()["got"] != "*v1.ConfigMap" {
				t.Errorf("%s: logged is %+v, want both types", way, entries)
			}
			s.update(t, way, "2")
			others.await(t, s)
			if err := errors.Join(wrong.Stop(t.Context()), right.Stop(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
}
