/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"math/rand"
	"slices"
	"strconv"
	"testing"

	"sigs.k8s.io/randfill"
)

// A list without keys is edited at the old version. The content of an element identifies it, and its code the owner of its stash.
func TestEdits_RandomInList_ElementsKeepTheirStash(t *testing.T) {
	rounds(t, func(random *rand.Rand, _ *randfill.Filler) {
		hub := &widget{}
		for i := range random.Intn(7) {
			r := rewrite{From: strconv.Itoa(i)}
			if random.Intn(4) > 0 {
				r.Code = new(int32(i))
			}
			hub.Spec.Rewrites = append(hub.Spec.Rewrites, r)
		}
		old := shown(t, hub)
		before := slices.Clone(old.Spec.Rewrites)
		old.Spec.Rewrites = edited(random, old.Spec.Rewrites, func(i int) oldRewrite { return oldRewrite{From: "new", To: strconv.Itoa(i)} })

		after := stored(t, old).Spec.Rewrites
		inPlace := placesHold(before, old.Spec.Rewrites)
		for at, r := range after {
			want := (*int32)(nil)
			if was := slices.IndexFunc(before, func(o oldRewrite) bool { return o == (oldRewrite{From: r.From, To: r.To}) }); was >= 0 {
				want = hub.Spec.Rewrites[was].Code
			} else if inPlace && !slices.Contains(old.Spec.Rewrites, before[at]) {
				want = hub.Spec.Rewrites[at].Code
			}
			if jsonOf(t, r.Code) != jsonOf(t, want) {
				t.Errorf("%v\n→ %v:\nelement %d has %s, want %s", before, old.Spec.Rewrites, at, jsonOf(t, r.Code), jsonOf(t, want))
			}
		}
		if len(after) != len(old.Spec.Rewrites) {
			t.Errorf("%d elements, want %d", len(after), len(old.Spec.Rewrites))
		}
	})
}

// placesHold reports whether an element that is new is taken for an edited one: if none has moved, and the length is the
// same.
func placesHold(before, after []oldRewrite) bool {
	if len(before) != len(after) {
		return false
	}
	for was, r := range before {
		if at := slices.Index(after, r); at >= 0 && at != was {
			return false
		}
	}
	return true
}

// The same for a list with keys, where contents may change too.
func TestEdits_RandomInKeyedList_ElementsKeepTheirStash(t *testing.T) {
	rounds(t, func(random *rand.Rand, _ *randfill.Filler) {
		hub := &widget{}
		for i := range random.Intn(7) {
			hub.Spec.Ports = append(hub.Spec.Ports, port{Name: strconv.Itoa(i), Port: new(int32(i)), AppProtocol: new(strconv.Itoa(i))})
		}
		old := shown(t, hub)
		old.Spec.Ports = edited(random, old.Spec.Ports, func(i int) oldPort { return oldPort{Name: "new" + strconv.Itoa(i), Port: 1} })
		for i := range old.Spec.Ports {
			if random.Intn(2) == 0 {
				old.Spec.Ports[i].Port += 100
			}
		}
		for i, got := range stored(t, old).Spec.Ports {
			want := port{Name: old.Spec.Ports[i].Name, Port: new(old.Spec.Ports[i].Port)}
			if slices.ContainsFunc(hub.Spec.Ports, func(p port) bool { return p.Name == want.Name }) {
				want.AppProtocol = new(want.Name)
			}
			if old.Spec.Ports[i].Port == 0 {
				want.Port = got.Port // an optional zero that was absent before: not checked by this test
			}
			expectJSON(t, got, want)
		}
	})
}

// edited deletes, inserts and reorders elements, each of it sometimes.
func edited[E any](random *rand.Rand, list []E, fresh func(int) E) []E {
	list = slices.Clone(list)
	if random.Intn(2) == 0 {
		list = slices.DeleteFunc(list, func(E) bool { return random.Intn(4) == 0 })
	}
	if random.Intn(2) == 0 {
		for i := range random.Intn(3) {
			list = slices.Insert(list, random.Intn(len(list)+1), fresh(i))
		}
	}
	if random.Intn(2) == 0 {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return list
}
