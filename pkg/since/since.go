/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package since

import (
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// fewest is how many facts are remembered before it is worth to look for those that nobody asks for any more.
const fewest = 1000

// Memory is of facts, which are told apart by a K. It may be used by several goroutines. Use New.
type Memory[K comparable] struct {
	clock clock.PassiveClock
	keep  time.Duration

	mu    sync.Mutex
	facts map[K]fact
	// full is how many there may be before old ones are looked for.
	full int
}

type fact struct{ first, last time.Time }

// New returns a memory of nothing. A fact that was not noted for as long as keep has ended, whether Forget was called or not:
// objects go without a word.
func New[K comparable](keep time.Duration) *Memory[K] {
	return NewWithClock[K](keep, clock.RealClock{})
}

// NewWithClock is New for tests that set the time.
func NewWithClock[K comparable](keep time.Duration, clock clock.PassiveClock) *Memory[K] {
	return &Memory[K]{clock: clock, keep: keep, facts: make(map[K]fact), full: fewest}
}

// Lasted notes that something is so, and returns for how long it has been: zero if that is new.
func (m *Memory[K]) Lasted(key K) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	known, ok := m.facts[key]
	if !ok || m.ended(known, now) {
		known.first = now
	}
	known.last = now
	m.facts[key] = known
	if len(m.facts) > m.full {
		maps.DeleteFunc(m.facts, func(_ K, f fact) bool { return m.ended(f, now) })
		m.full = max(2*len(m.facts), fewest)
	}
	return now.Sub(known.first)
}

// Forget notes that something is so no more.
func (m *Memory[K]) Forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.facts, key)
}

func (m *Memory[K]) ended(f fact, now time.Time) bool { return now.Sub(f.last) >= m.keep }
