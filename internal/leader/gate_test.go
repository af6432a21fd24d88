/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestAShutGateWaitsForThoseInsideAndLetsNobodyIn(t *testing.T) {
	var g gate
	for range 2 {
		if !g.enter() {
			t.Fatal("an open gate lets nobody in")
		}
	}
	drained := make(chan error, 1)
	go func() { drained <- g.drain(t.Context()) }()
	for g.enter() {
		g.leave()
	}
	g.leave()
	select {
	case err := <-drained:
		t.Fatalf("drained (%v) though one is still inside", err)
	default:
	}
	g.leave()
	if err := <-drained; err != nil {
		t.Error(err)
	}
	if g.enter() {
		t.Error("the gate opens by itself")
	}
	g.open()
	if !g.enter() {
		t.Error("the gate does not open")
	}
}

func TestAGateThatDoesNotDrainSaysHowManyAreInside(t *testing.T) {
	var g gate
	g.enter()
	why := errors.New("no time left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := g.drain(ctx); !errors.Is(err, why) || !strings.Contains(err.Error(), "1 keys") {
		t.Errorf("got %v", err)
	}
	g.leave()
	if err := g.drain(t.Context()); err != nil {
		t.Errorf("after the last one left: %v", err)
	}
}

func TestAnEmptyGateDrainsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := new(gate).drain(ctx); err != nil {
		t.Error(err)
	}
}
