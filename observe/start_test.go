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
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
)

// streamedAndListed runs a test with lists that are streamed by a watch, and with lists that are not.
func streamedAndListed(t *testing.T, test func(*testing.T)) {
	t.Helper()
	for name, streamed := range map[string]bool{"Streamed": true, "Listed": false} {
		t.Run(name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streamed)
			test(t)
		})
	}
}

// received are the events of an observer, as text.
type received []string

func (r *received) handle(_ context.Context, e Event[*corev1.Secret]) error {
	*r = append(*r, fmt.Sprintf("%v %s listed=%t", e.Type, e.Name.Name, e.InInitialList))
	return nil
}

// waited returns the observers that a process has logged that it waits for, and the errors.
func waited(logs *zapobserver.ObservedLogs) (names []string, errs []error) {
	for _, entry := range logs.TakeAll() {
		if entry.Message != "An observer waits for the first list of its source" {
			continue
		}
		for _, field := range entry.Context {
			if err, ok := field.Interface.(error); ok {
				errs = append(errs, err)
			}
		}
		names = append(names, entry.ContextMap()["observer"].(string))
	}
	slices.Sort(names)
	return names, errs
}

var errForbidden = apierrors.NewForbidden(corev1.Resource("secrets"), "", errInduced)

// starting is a process with observers of two API servers, of which one does not answer.
type starting struct {
	silent, other            *apiServer
	inline, queued, answered received

	logs      *zapobserver.ObservedLogs
	isStarted bool
}

// newStarting makes the API servers and registers the observers.
func newStarting(before []definition) *starting {
	s := &starting{silent: newAPIServer(), other: newAPIServer()}
	for _, object := range []string{"a", "b", "c"} {
		s.silent.write(object)
		s.other.write(object)
	}
	registry.definitions = slices.Clone(before)
	Register("inline", ofSecrets(s.silent), s.inline.handle, Options[*corev1.Secret]{Inline: true})
	Register("queued", ofSecrets(s.silent), s.queued.handle)
	elsewhere := ofSecrets(s.other)
	elsewhere.key.kind = "other"
	Register("answered", elsewhere, s.answered.handle, Options[*corev1.Secret]{Inline: true})
	return s
}

// run starts the process, until stop is called.
func (s *starting) run(t *testing.T) (stop func()) {
	t.Helper()
	core, logs := zapobserver.New(zap.WarnLevel)
	s.logs = logs
	ctx, cancel := context.WithCancel(logging.WithLogger(context.Background(), zap.New(core).Sugar()))
	ctx, informers := attach(ctx)
	var controllers []*controller.Impl
	for _, construct := range Constructors() {
		controllers = append(controllers, construct(ctx, nil))
	}
	go func() {
		if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
			t.Error(err)
		}
		s.isStarted = true
		_ = controller.StartAll(ctx, controllers...)
	}()
	return func() {
		cancel()
		pass(time.Minute)
	}
}

// expectWaiting checks what the process has done before it has the list.
func (s *starting) expectWaiting(t *testing.T, reason error) {
	t.Helper()
	for range 2 {
		pass(waitingEvery + time.Second)
		synctest.Wait()
		if names, errs := waited(s.logs); !slices.Equal(names, []string{"inline", "queued"}) || !errors.Is(errors.Join(errs...), reason) {
			t.Errorf("the log names the observers %q with the errors %v, want the two that wait, and %v", names, errs, reason)
		}
	}
	if s.isStarted || len(s.inline)+len(s.queued) > 0 || len(s.answered) != 3 {
		t.Errorf("before the list, the process is started: %t, and the observers have received %q, %q and %q", s.isStarted, s.inline, s.queued, s.answered)
	}
}

func TestStart_FirstListIsMissing_WaitsAndNamesTheObservers(t *testing.T) {
	quiet(t)
	before := registered()
	t.Cleanup(func() { registry.definitions = before })
	for name, tc := range map[string]struct {
		disturb func(*apiServer) (heal func())
		reason  error
	}{
		"Held":      {disturb: (*apiServer).hold},
		"Forbidden": {disturb: func(s *apiServer) func() { s.reject(errForbidden); return s.restart }, reason: errForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			streamedAndListed(t, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStarting(before)
					heal := tc.disturb(s.silent)
					defer s.run(t)()
					s.expectWaiting(t, tc.reason)
					heal()
					pass(time.Minute)
					synctest.Wait()
					want := []string{"Added a listed=true", "Added b listed=true", "Added c listed=true"}
					for _, got := range []received{s.inline, s.queued, s.answered} {
						if slices.Sort(got); !s.isStarted || !slices.Equal(got, want) {
							t.Errorf("the process is started: %t, and an observer has received %q, want %q", s.isStarted, got, want)
						}
					}
				})
			})
		})
	}
}

// client-go decides about the back-off, unless a source makes its own requests.
func TestSource_APIServerIsDown_RequestsBackOff(t *testing.T) {
	quiet(t)
	streamedAndListed(t, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, _ := newProcess(t)
			server := newAPIServer()
			var events received
			if _, err := Subscribe(ctx, "it", ofSecrets(server), events.handle); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
			server.write("a")
			server.reject(errRefused)
			server.disconnect(nil)
			before := server.answered()
			server.remove("a")
			server.write("b")
			pass(10 * time.Minute)
			// The back-off begins at 0.8 s and ends at 30 s; a failed stream is followed by a list.
			if n := server.answered() - before; n < 10 || n > 30 {
				t.Errorf("there were %d requests in 10 minutes, want 10 to 30", n)
			}
			server.reject(nil)
			pass(2 * time.Minute)
			synctest.Wait()
			if want := []string{"Added a listed=false", "Deleted a listed=false", "Added b listed=false"}; len(events) != 3 || events[0] != want[0] ||
				!slices.Contains(events, want[1]) || !slices.Contains(events, want[2]) {
				t.Errorf("received are %q, want %q", events, want)
			}
		})
	})
}
