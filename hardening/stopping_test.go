/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestStop_ReconciliationRuns_TheProcessEndsAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w work
		signal, terminate := context.WithCancel(t.Context())
		ctx := w.detach(signal)
		if !w.begin() {
			t.Fatal("no reconciliation begins")
		}
		terminate()
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("the context ends while a reconciliation is running, so that the lease is released")
		}
		if w.begin() {
			t.Error("a reconciliation begins after SIGTERM")
		}
		w.running.Done()
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("the context does not end with the last reconciliation")
		}
	})
}

func TestStop_ReconciliationHangs_TheProcessEndsWithinTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w work
		signal, terminate := context.WithCancel(t.Context())
		ctx := w.detach(signal)
		w.begin()
		defer w.running.Done()
		terminate()
		time.Sleep(drainLimit) //nolint:forbidigo // the bubble's clock
		synctest.Wait()
		if ctx.Err() == nil {
			t.Errorf("the process has not ended %v after SIGTERM", drainLimit)
		}
	})
}

func TestStop_NothingRuns_TheProcessEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w work
		signal, terminate := context.WithCancel(t.Context())
		ctx := w.detach(signal)
		terminate()
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("the process has not ended")
		}
	})
}
