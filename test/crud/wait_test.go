/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// A wait costs a watch instead of a request per second, and needs no permission to watch.
func TestEnsureDeleted_Wait_WatchesOrPolls(t *testing.T) {
	s := newScene(t)
	op := crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a"))
	op.Wait = harness.Deadline
	here := harness.InNamespace(s.ns)
	watches := harness.Matching("watch", "configmaps").And(here)
	wait := func(waits func() error) (reads int) {
		s.run(crud.Create(s.configMap("a", nil)), crud.Created)
		s.patch(configMaps, "a", `{"metadata":{"finalizers":["example.com/theirs"]}}`)
		gets := s.proxy.Count(harness.Matching("get", "configmaps").And(here))
		done := s.begin(op)
		harness.Eventually(t, "the operation waits", func(context.Context) error { return waits() })
		s.patch(configMaps, "a", `{"metadata":{"finalizers":null}}`)
		if after := <-done; after.err != nil || after.result.Outcome != crud.Deleted {
			t.Errorf("got %v, %v", after.result.Outcome, after.err)
		}
		return gets()
	}
	if reads := wait(func() error {
		if s.proxy.Watches(watches) == 0 {
			return errors.New("there is no watch")
		}
		return nil
	}); reads > 4 {
		t.Errorf("sent %d reads", reads)
	}
	refused := s.proxy.Count(watches)
	s.proxy.Fail(watches, http.StatusForbidden)
	wait(func() error {
		if refused() == 0 {
			return errors.New("it has not tried to watch")
		}
		return nil
	})
	if n := refused(); n != 1 {
		t.Errorf("tried to watch %d times", n)
	}
}

// At its deadline, an incomplete deletion is reported with the finalizer that delays it, and an operation that needs it fails.
func TestWait_FinalizerIsNeverRemoved_EndsAtTheDeadline(t *testing.T) {
	const wait, theirs = 300 * time.Millisecond, "example.com/theirs"
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	s.patch(configMaps, "a", `{"metadata":{"finalizers":["`+theirs+`"]}}`)
	t.Cleanup(func() { s.tryRelease("a") })
	began := time.Now()
	deletion := crud.EnsureDeleted(s.ref("ConfigMap", "a"))
	deletion.Wait = wait
	if result := s.run(deletion, crud.Deleting); !slices.Contains(result.Finalizers, theirs) || time.Since(began) < wait {
		t.Errorf("after %v, the finalizers are %q", time.Since(began), result.Finalizers)
	}
	began = time.Now()
	creation := crud.CreateOrUpdate(s.configMap("a", nil))
	creation.Wait = wait
	if message := s.fails(creation, crud.Terminating); !strings.Contains(message, theirs) || time.Since(began) < wait {
		t.Errorf("after %v, the message is %s", time.Since(began), message)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	creation.Wait = time.Hour
	if _, err := s.client.Run(ctx, creation); crud.ClassOf(err) != crud.Canceled || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the deadline of the context passed: %v", err)
	}
}
