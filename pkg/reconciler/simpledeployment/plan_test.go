/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// epoch is the present of these tests.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// p is a Pod as a plan sees it: of the present spec, not ready, and the older the lower its slot is.
func p(slot int, mods ...func(*pod)) *pod {
	made := &pod{
		name: "p-" + strconv.Itoa(slot), uid: types.UID("uid-" + strconv.Itoa(slot)),
		current: true, created: epoch.Add(time.Duration(slot-100) * time.Minute),
	}
	for _, m := range mods {
		m(made)
	}
	return made
}

func isReady(p *pod) { p.ready = true }
func isOld(p *pod)   { p.current = false }
func sameAge(p *pod) { p.created = epoch }
func isYoung(p *pod) { p.created = epoch }

// goingSince is a terminating Pod, which should have ended so long ago.
func goingSince(ago time.Duration) func(*pod) {
	return func(p *pod) { p.class, p.ended = terminating, epoch.Add(-ago) }
}

// endedAgo is a finished Pod.
func endedAgo(ago time.Duration) func(*pod) {
	return func(p *pod) { p.class, p.ended = finished, epoch.Add(-ago) }
}

func TestPlan_States_ReturnsCreationsAndDeletions(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		replicas int
		pods     []*pod
		remove   []int
		create   int
		again    time.Duration
	}{
		"AtRest":     {reason: "It is as it should be.", replicas: 2, pods: []*pod{p(0, isReady), p(1, isReady)}},
		"FromNone":   {reason: "All at once: no Pod exists that could be disturbed.", replicas: 3, create: 3},
		"NoneWanted": {reason: "Ready ones too.", replicas: 0, pods: []*pod{p(0, isReady), p(1), p(2, isOld, isReady), p(3, isOld)}, remove: []int{3, 1, 0, 2}},
		"ScaledUp":   {reason: "All that are missing.", replicas: 4, pods: []*pod{p(0, isReady), p(1, isReady)}, create: 2},
		"ScaledDown": {reason: "The youngest go.", replicas: 1, pods: []*pod{p(0, isReady), p(1, isReady), p(2, isReady)}, remove: []int{2, 1}},
		"ScaledDownReadyStays": {
			reason: "One that is not ready is of less use.", replicas: 1, pods: []*pod{p(0), p(1, isReady), p(2)}, remove: []int{2, 0},
		},
		"ScaledDownSameAge": {reason: "Seconds do not tell them apart; the choice must not be by chance.", replicas: 1, pods: []*pod{p(1, sameAge, isReady), p(0, sameAge, isReady), p(2, sameAge, isReady)}, remove: []int{2, 0}},
		"ScaledDownLowSlotIsYoung": {
			reason: "A slot that was free again says nothing of an age.", replicas: 1, pods: []*pod{p(0, isYoung, isReady), p(1, isReady)}, remove: []int{0},
		},
		"RolloutLowSlotIsYoung": {
			reason: "The oldest of the old ones goes first, whatever its slot.", replicas: 2,
			pods: []*pod{p(0, isYoung, isOld, isReady), p(1, isOld, isReady), p(2, isReady)}, remove: []int{1},
		},
		"WaitingForThem":      {reason: "They are starting.", replicas: 2, pods: []*pod{p(0), p(1)}},
		"RolloutBegins":       {reason: "One more than desired, and no ready Pod is deleted.", replicas: 2, pods: []*pod{p(0, isOld, isReady), p(1, isOld, isReady)}, create: 1},
		"RolloutWaits":        {reason: "The new one is not ready.", replicas: 2, pods: []*pod{p(0, isOld, isReady), p(1, isOld, isReady), p(2)}},
		"RolloutGoesOn":       {reason: "The new one replaces an old one, which holds its place until it no longer exists.", replicas: 2, pods: []*pod{p(0, isOld, isReady), p(1, isOld, isReady), p(2, isReady)}, remove: []int{0}},
		"RolloutEnds":         {reason: "All are new.", replicas: 2, pods: []*pod{p(0, isOld, isReady), p(1, isReady), p(2, isReady)}, remove: []int{0}},
		"RolloutOfSick":       {reason: "An old one that is not ready is useless.", replicas: 2, pods: []*pod{p(0, isOld), p(1, isOld)}, remove: []int{0, 1}, create: 1},
		"RolloutHalfSick":     {reason: "The ready one stays until another is.", replicas: 2, pods: []*pod{p(0, isOld), p(1, isOld, isReady)}, remove: []int{0}, create: 1},
		"NewIsSick":           {reason: "Without the new one being ready the rollout waits.", replicas: 1, pods: []*pod{p(0, isOld, isReady), p(1)}},
		"ScaledUpInRollout":   {reason: "New ones only, and the surge once.", replicas: 4, pods: []*pod{p(0, isOld, isReady), p(1, isOld, isReady), p(2)}, create: 2},
		"ScaledDownInRollout": {reason: "Old ones go first, as long as enough are ready.", replicas: 2, pods: []*pod{p(0, isOld, isReady), p(1, isOld, isReady), p(2, isOld, isReady), p(3, isReady)}, remove: []int{0, 1}},
		"BothTooMany":         {reason: "More new ones than desired, and old ones, too.", replicas: 1, pods: []*pod{p(0, isOld, isReady), p(1, isReady), p(2, isReady)}, remove: []int{2, 0}},
		"RolledBack":          {reason: "What was new is old now.", replicas: 2, pods: []*pod{p(0, isReady), p(1, isReady), p(2, isOld)}, remove: []int{2}},
		"Terminating":         {reason: "It does not count as desired, and the surge lets it be replaced at once.", replicas: 2, pods: []*pod{p(0, goingSince(0), isReady), p(1, isReady)}, create: 1, again: holdEnded},
		"TerminatingAll":      {reason: "Those beyond the surge hold their places until they no longer exist.", replicas: 2, pods: []*pod{p(0, goingSince(-time.Minute)), p(1, goingSince(-time.Minute))}, create: 1, again: time.Minute + holdEnded},
		"TerminatingHangs":    {reason: "They have not ended in time, and may never.", replicas: 2, pods: []*pod{p(0, goingSince(holdEnded)), p(1, goingSince(holdEnded))}, create: 2},
		"OddName":             {reason: "One of ours with a name that we did not give counts as well.", replicas: 1, pods: []*pod{p(-1, isReady)}},
		"FinishedJustNow":     {reason: "The surge lets one be replaced at once; it goes after a while.", replicas: 2, pods: []*pod{p(0, endedAgo(time.Second)), p(1, isReady)}, create: 1, again: holdEnded - time.Second},
		"FinishedAllAtOnce":   {reason: "Those beyond the surge hold their places for a while.", replicas: 2, pods: []*pod{p(0, endedAgo(time.Second)), p(1, endedAgo(3*time.Second))}, create: 1, again: holdEnded - 3*time.Second},
		"FinishedAgain":       {reason: "Its replacement ended at once too, and is not replaced as fast as we can.", replicas: 1, pods: []*pod{p(0, endedAgo(time.Second)), p(1, endedAgo(0))}, again: holdEnded - time.Second},
		"FinishedLongAgo":     {reason: "It goes, and another comes.", replicas: 1, pods: []*pod{p(0, endedAgo(holdEnded))}, remove: []int{0}, create: 1},
		"FinishedOld":         {reason: "Whatever it was of.", replicas: 1, pods: []*pod{p(0, isOld, endedAgo(time.Hour)), p(1, isReady)}, remove: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			var given []pod
			for _, pod := range tc.pods {
				given = append(given, *pod)
			}
			got := decide(tc.replicas, tc.pods, epoch)
			var removed []int
			for _, victim := range got.remove {
				removed = append(removed, slices.Index(tc.pods, victim))
			}
			if !slices.Equal(removed, tc.remove) || max(0, min(got.missing, got.room)) != tc.create || got.again != tc.again {
				t.Errorf("delete %v, create %v, look again after %v; want delete %v, create %v, look again after %v\nReason: %s",
					removed, min(got.missing, got.room), got.again, tc.remove, tc.create, tc.again, tc.reason)
			}
			for i, pod := range tc.pods {
				if *pod != given[i] {
					t.Errorf("the plan has changed Pod %d", i)
				}
			}
		})
	}
}
