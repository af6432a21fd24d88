/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"fmt"
	"math/rand"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// simulation is a set of Pods on which plans are carried out step by step, while Pods become ready, end and go by chance.
type simulation struct {
	*rand.Rand

	replicas int
	pods     []*pod
	now      time.Time
	made     int
}

// TestPlan_RandomStates_KeepsTheBoundsAndConverges begins with a random state, changes the Pods and the spec at random, and checks the
// bounds after each step.
func TestPlan_RandomStates_KeepsTheBoundsAndConverges(t *testing.T) {
	source := testrand.Source(t)
	for i := range testrand.Inputs(t) {
		s := newSimulation(rand.New(rand.NewSource(source.Int63())))
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			for range 30 {
				s.happens()
				s.carryOut(t)
			}
			s.arrives(t)
		})
	}
}

func newSimulation(r *rand.Rand) *simulation {
	s := &simulation{Rand: r, replicas: r.Intn(7), now: epoch}
	for slot := range r.Intn(10) {
		s.pods = append(s.pods, &pod{
			name: nameOf(object(0), slot), uid: types.UID(strconv.Itoa(slot)),
			class: class(r.Intn(3)), current: r.Intn(2) == 0, ready: r.Intn(2) == 0,
			created: epoch.Add(-time.Duration(r.Intn(20)) * time.Second), ended: epoch.Add(-time.Duration(r.Intn(20)) * time.Second),
		})
	}
	return s
}

// happens changes Pods and spec as other programs may between two reconciliations.
func (s *simulation) happens() {
	s.now = s.now.Add(time.Duration(s.Intn(4)) * time.Second)
	switch s.Intn(12) {
	case 0:
		s.replicas = s.Intn(7)
	case 1:
		// Another image.
		for _, pod := range s.pods {
			pod.current = false
		}
	}
	for _, pod := range s.pods {
		if pod.class != active {
			continue
		}
		switch s.Intn(60) {
		case 0, 1, 2:
			pod.ready = false
		case 3, 4, 5:
			pod.class, pod.ended = finished, s.now
		case 6, 7:
			pod.class, pod.ended = terminating, s.now
		default:
			pod.ready = pod.ready || s.Intn(3) == 0
		}
	}
	s.end(func() bool { return s.Intn(2) == 0 })
}

// end lets terminating Pods go.
func (s *simulation) end(goes func() bool) {
	var left []*pod
	for _, pod := range s.pods {
		if pod.class != terminating || !goes() {
			left = append(left, pod)
		}
	}
	s.pods = left
}

// carryOut carries a plan out step by step, perhaps not to its end, and looks after each step.
func (s *simulation) carryOut(t *testing.T) (steps int) {
	t.Helper()
	next := decide(s.replicas, s.pods, s.now)
	stop := -1
	if s.Intn(4) == 0 {
		stop = s.Intn(4)
	}
	before := count(s.pods)
	for _, victim := range next.remove {
		if steps++; steps == stop {
			return steps
		}
		victim.class, victim.ended = terminating, s.now
		s.check(t, before)
	}
	for range min(next.missing, next.room) {
		if steps++; steps == stop {
			return steps
		}
		s.create(t, freeName(object(0), s.pods, map[string]bool{}))
		s.check(t, before)
	}
	return steps
}

func (s *simulation) create(t *testing.T, name string) {
	t.Helper()
	for _, other := range s.pods {
		if other.name == name {
			t.Fatalf("name %s is given twice: %+v", name, s.pods)
		}
	}
	s.made++
	s.pods = append(s.pods, &pod{name: name, uid: types.UID(fmt.Sprintf("made-%d", s.made)), current: true, created: s.now})
}

// check compares with what there was before the plan: one may come into it with more or fewer than allowed.
func (s *simulation) check(t *testing.T, before counts) {
	t.Helper()
	c := count(s.pods)
	if c.active > max(s.replicas+surge, before.active) {
		t.Fatalf("%d Pods are active, %d are desired, and %d were active before", c.active, s.replicas, before.active)
	}
	if c.ready < min(s.replicas, before.ready) {
		t.Fatalf("%d Pods are ready, %d are desired, and %d were ready before", c.ready, s.replicas, before.ready)
	}
}

// arrives lets all Pods become ready, and nothing else happen.
func (s *simulation) arrives(t *testing.T) {
	t.Helper()
	const enough = 100
	for range enough {
		s.now = s.now.Add(time.Second)
		for _, pod := range s.pods {
			pod.ready = pod.ready || pod.class == active
		}
		s.end(func() bool { return true })
		steps := s.carryOut(t)
		next := decide(s.replicas, s.pods, s.now)
		c := count(s.pods)
		if steps == 0 && len(next.remove) == 0 && next.again == 0 && c == (counts{s.replicas, s.replicas, s.replicas}) {
			return
		}
	}
	t.Fatalf("after %d reconciliations there are %+v of %d Pods: %+v", enough, count(s.pods), s.replicas, s.pods)
}
