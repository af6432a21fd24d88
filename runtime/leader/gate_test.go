/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestGate_Closed_WaitsForTheWorkUnderWay(t *testing.T) {
	var g gate
	ctx, leave, ok := g.enter(t.Context())
	_, leaveToo, okToo := g.enter(t.Context())
	if !ok || !okToo {
		t.Fatal("an open gate rejects a reconciliation")
	}
	idle := g.close()
	if _, _, ok := g.enter(t.Context()); ok {
		t.Error("a shut gate lets work begin")
	}
	leave()
	if isClosed(idle) {
		t.Error("idle though work is under way")
	}
	leaveToo()
	if !isClosed(idle) || !isClosed(g.close()) {
		t.Error("not idle though all work has ended")
	}
	if ctx.Err() == nil {
		t.Error("the context of work that has ended still lives")
	}
	g.open(time.Time{})
	if _, _, ok := g.enter(t.Context()); !ok {
		t.Error("the gate does not open")
	}
}

func TestGate_Canceled_EndsTheContextsOfWork(t *testing.T) {
	var g gate
	ctx, leave, _ := g.enter(t.Context())
	defer leave()
	why := errors.New("no time left")
	g.cancel(why)
	if !errors.Is(context.Cause(ctx), why) {
		t.Errorf("the context ended for %v", context.Cause(ctx))
	}
}

func TestGate_TermEnds_ShutsWithoutATimerAndStaysShut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		g.open(time.Now().Add(time.Second))
		g.extend(time.Now().Add(2 * time.Second))
		<-time.After(2*time.Second - time.Nanosecond)
		if _, leave, ok := g.enter(t.Context()); !ok {
			t.Error("shut before the end of an extended term")
		} else {
			leave()
		}
		<-time.After(time.Nanosecond)
		g.extend(time.Now().Add(time.Hour))
		if _, _, ok := g.enter(t.Context()); ok {
			t.Error("an answer that came too late reopened the gate")
		}
	})
}
