/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestEnsureDeleted_Wait_PollsUntilItIsGone(t *testing.T) {
	s := newScene(t)
	op := crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a"))
	op.Wait = harness.Deadline
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	s.patch(configMaps, "a", `{"metadata":{"finalizers":["example.com/theirs"]}}`)
	reads := s.proxy.Count(harness.Matching("get", "configmaps").And(harness.InNamespace(s.ns)))
	done := s.begin(op)
	harness.Eventually(t, "the operation polls", func(context.Context) error {
		if reads() < 6 {
			return errors.New("it has sent less than 6 reads")
		}
		return nil
	})
	s.patch(configMaps, "a", `{"metadata":{"finalizers":null}}`)
	if after := <-done; after.err != nil || after.result.Outcome != crud.Deleted {
		t.Errorf("got %v, %v", after.result.Outcome, after.err)
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
