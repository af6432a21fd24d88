//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const (
	kind   = "addressableservices"
	status = "addressableservices/status"
)

// TestProxy_Disturbances_ReachOneController disturbs one controller in one way after the other.
func TestProxy_Disturbances_ReachOneController(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	proxy := env.Proxy(t, "controller")
	controller := env.Process(t, "controller")
	byController := harness.ByUser(env.User("controller"))

	t.Run("passes requests on with the caller's identity", func(t *testing.T) {
		mark := env.Mark(t)
		ns := env.Namespace(t)
		env.Await(t, env.Apply(t, ns, sample)[1], harness.Ready)
		writes := mark.Entries(t, byController, harness.Writes, harness.ByRequest(harness.InNamespace(ns)))
		if len(writes) == 0 {
			t.Error("the audit log has no write of the controller's service account")
		}
		// The object may be Ready before the response to the write has passed the proxy.
		harness.Eventually(t, "the proxy has counted a write of a status", func(context.Context) error {
			answered := harness.Requests(proxy.Requests())
			if answered.Of(harness.Matching("*", status)).Total() == 0 {
				return fmt.Errorf("it has counted:\n%s", answered)
			}
			return nil
		})
	})

	t.Run("cuts connections, running watches too", func(t *testing.T) {
		ns := env.Namespace(t)
		refs := env.Apply(t, ns, sample)
		env.Await(t, refs[1], harness.Ready)
		mark := env.Mark(t)
		proxy.Cut()
		// That its watches have ended is in the audit log.
		env.Delete(t, refs[0])
		harness.Eventually(t, "a watch of the controller has ended", func(context.Context) error {
			return some(mark.Entries(t, byController, harness.ByVerb("watch")))
		})
		env.Throughout(t, refs[1], harness.Ready, func() { env.Mark(t) })
		proxy.Restore()
		env.Await(t, refs[1], harness.HasCondition("Ready", "False", ""))
	})

	t.Run("holds a request until its process is dead", func(t *testing.T) {
		held := proxy.Hold(harness.Matching("*", status))
		refs := env.Apply(t, env.Namespace(t), sample)
		if got := held.Wait(t); got.Name != "subject" || got.Subresource != "status" {
			t.Errorf("got %+v, want the request for the status of the sample", got)
		}
		env.Throughout(t, refs[1], env.Unchanged(t, refs[1]), func() { controller.Kill(t) })
		held.Release()
		env.Throughout(t, refs[1], env.Unchanged(t, refs[1]), func() { env.Mark(t) })
		env.ExpireLeases(t, controller)
		controller.Start(t)
		env.Await(t, refs[1], harness.Ready)
	})

	t.Run("fails requests", func(t *testing.T) {
		undo := proxy.Fail(harness.Matching("*", status), http.StatusInternalServerError)
		refs := env.Apply(t, env.Namespace(t), sample)
		harness.Eventually(t, "a request for a status has failed", func(context.Context) error {
			for answer := range proxy.Requests() {
				if answer.Resource == kind && answer.Code == http.StatusInternalServerError {
					return nil
				}
			}
			return some(nil)
		})
		undo()
		env.Await(t, refs[1], harness.Ready)
		if !strings.Contains(controller.Log(t), "the harness has this request fail") {
			t.Error("the controller's log does not say why the request failed")
		}
	})

	t.Run("keeps back the events of watches", func(t *testing.T) {
		resume := proxy.PauseWatches(harness.Matching("watch", kind))
		refs := env.Apply(t, env.Namespace(t), sample)
		env.Throughout(t, refs[1], env.Unchanged(t, refs[1]), func() { env.Mark(t) })
		resume()
		env.Await(t, refs[1], harness.Ready)
	})

	t.Run("has the events of watches arrive late", func(t *testing.T) {
		// Much longer than it takes without, on a busy machine too.
		const delay = 3 * time.Second
		undo := proxy.DelayWatches(harness.Matching("watch", kind), delay)
		defer undo()
		start := time.Now()
		refs := env.Apply(t, env.Namespace(t), sample)
		env.Await(t, refs[1], harness.Ready)
		if took := time.Since(start); took < delay {
			t.Errorf("the object is Ready after %v, though the controller is to learn of it after %v", took, delay)
		}
	})
}

// some says that there must be some entries.
func some(entries []harness.AuditEntry) error {
	if len(entries) == 0 {
		return errors.New("there is no such request")
	}
	return nil
}
