/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"fmt"
	"math/rand"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// filler makes random objects: any strings, often empty and zero values, keys that are not unique.
func filler(source rand.Source) *randfill.Filler {
	const nilChance, most = 0.3, 6
	return randfill.New().RandSource(source).NilChance(nilChance).NumElements(0, most).Funcs(
		func(meta *metav1.ObjectMeta, c randfill.Continue) {
			meta.Name = c.String(0)
			c.Fill(&meta.Labels)
			c.Fill(&meta.Annotations)
			delete(meta.Annotations, annotation)
			c.Fill(&meta.Finalizers)
			c.Fill(&meta.OwnerReferences)
		},
		func(*metav1.TypeMeta, randfill.Continue) {}, // the webhook sets it
		func(duration *metav1.Duration, c randfill.Continue) { c.Fill(&duration.Duration) },
		func(s *string, c randfill.Continue) {
			switch c.Intn(4) {
			case 0:
				*s = ""
			case 1:
				*s = strconv.Itoa(c.Intn(3))
			default:
				*s = c.String(0)
			}
		},
		func(i *int32, c randfill.Continue) { *i = int32(c.Intn(3)) },
	)
}

// rounds calls a test with random input as often as the repository's tests do.
func rounds(t *testing.T, round func(random *rand.Rand, fill *randfill.Filler)) {
	t.Helper()
	source := testrand.Source(t)
	random, fill := rand.New(source), filler(source)
	for i := range testrand.Inputs(t) {
		round(random, fill)
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
}

func TestConvert_RandomHubObjects_SurviveTheOldVersion(t *testing.T) {
	rounds(t, func(_ *rand.Rand, fill *randfill.Filler) {
		var hub widget
		fill.Fill(&hub)
		expectJSON(t, stored(t, shown(t, &hub)), &hub)
	})
}

func TestConvert_RandomOldObjects_SurviveTheHub(t *testing.T) {
	rounds(t, func(_ *rand.Rand, fill *randfill.Filler) {
		var old oldWidget
		fill.Fill(&old)
		expectJSON(t, shown(t, stored(t, &old)), &old)
	})
}

// Each object comes out of JSON, as in the webhook, and has been at both versions.
func TestConvert_RandomObjects_SurviveJSON(t *testing.T) {
	rounds(t, func(_ *rand.Rand, fill *randfill.Filler) {
		var hub widget
		fill.Fill(&hub)
		want := jsonOf(t, &hub)
		old := decoded[oldWidget](t, jsonOf(t, shown(t, decoded[widget](t, want))))
		if got := jsonOf(t, stored(t, old)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// Whatever a step made is then changed all over, and the next step begins with that.
func TestConvert_SourceAndDestination_ShareNoMemory(t *testing.T) {
	rounds(t, func(random *rand.Rand, fill *randfill.Filler) {
		var hub, again widget
		var hubStorage, hubAgain widgetStorage
		var oldStorage, oldAgain oldWidgetStorage
		var old oldWidget
		fill.Fill(&hub)
		expectOwnMemory(t, &hub, &hubStorage, func() error { return hub.AssignProperties_To_Widget(&hubStorage) })
		expectOwnMemory(t, &hubStorage, &oldStorage, func() error { return oldStorage.AssignProperties_From_Widget(&hubStorage) })
		strew(t, random, &oldStorage)
		expectOwnMemory(t, &oldStorage, &old, func() error { return old.AssignProperties_From_Widget(&oldStorage) })
		expectOwnMemory(t, &old, &oldAgain, func() error { return old.AssignProperties_To_Widget(&oldAgain) })
		expectOwnMemory(t, &oldAgain, &hubAgain, func() error { return oldAgain.AssignProperties_To_Widget(&hubAgain) })
		expectOwnMemory(t, &hubAgain, &again, func() error { return again.AssignProperties_From_Widget(&hubAgain) })
	})
}

func TestConvert_SameObject_IsDeterministic(t *testing.T) {
	const objects, times = 10, 100
	fill := filler(testrand.Source(t))
	for range objects {
		var hub widget
		fill.Fill(&hub)
		old := shown(t, &hub)
		representation, back := jsonOf(t, old), jsonOf(t, stored(t, old))
		for range times {
			if again := jsonOf(t, shown(t, &hub)); again != representation {
				t.Fatalf("at v1alpha1 first %s\nand later %s", representation, again)
			}
			if again := jsonOf(t, stored(t, old)); again != back {
				t.Fatalf("at v1 first %s\nand later %s", back, again)
			}
		}
	}
}

// Entries of other programs, anywhere in an object and under any key, are unchanged after a round trip through the hub.
func TestConvert_RandomEntriesOfOtherPrograms_AreKept(t *testing.T) {
	rounds(t, func(random *rand.Rand, fill *randfill.Filler) {
		var old oldWidget
		fill.Fill(&old)
		var storage oldWidgetStorage
		if err := old.AssignProperties_To_Widget(&storage); err != nil {
			t.Fatal(err)
		}
		strew(t, random, &storage)
		var start oldWidget
		if err := start.AssignProperties_From_Widget(&storage); err != nil {
			t.Fatal(err)
		}
		expectJSON(t, shown(t, stored(t, &start)), &start)
	})
}

// strew puts unknown entries into bags.
func strew(t testing.TB, random *rand.Rand, storage *oldWidgetStorage) {
	t.Helper()
	into := func(bag *conversion.PropertyBag) {
		for range random.Intn(3) {
			key := fmt.Sprintf("v%d/%s", random.Intn(3)+2, string(rune(random.Intn(0xd800))))
			value := map[string]any{"a": random.Float64(), key: []any{nil, random.Intn(9), "<>&\u2028"}}
			if err := bag.PutDerived(key, value, random.Intn(2)); err != nil {
				t.Fatal(err)
			}
		}
	}
	into(&storage.PropertyBag)
	into(&storage.Spec.PropertyBag)
	for key, value := range storage.Spec.Headers {
		into(&value.PropertyBag)
		storage.Spec.Headers[key] = value
	}
	for i := range storage.Spec.Ports {
		into(&storage.Spec.Ports[i].PropertyBag)
	}
	for i := range storage.Spec.Rewrites {
		into(&storage.Spec.Rewrites[i].PropertyBag)
	}
	if storage.Spec.Retries != nil {
		into(&storage.Spec.Retries.PropertyBag)
	}
}
