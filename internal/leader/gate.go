/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"fmt"
	"sync"
)

// gate counts who is at work, and can be shut. Its zero value is open.
type gate struct {
	mu     sync.Mutex
	shut   bool
	inside int
	// empty is closed when the last one leaves; it is there only while drain waits.
	empty chan struct{}
}

// enter says whether work may begin. If so, leave must be called at its end.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// drain shuts the gate and waits until nobody is at work. It fails when ctx ends before.
func (g *gate) drain(ctx context.Context) error {
	g.mu.Lock()
	g.shut = true
	if g.inside == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	empty := g.empty
	g.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		return fmt.Errorf("%d keys are still being worked on: %w", g.inside, context.Cause(ctx))
	}
}

// open lets work begin again.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
}
