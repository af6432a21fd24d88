/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"math/rand"
	"net/netip"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// A failure can be repeated only if a seed always makes the same objects.
func TestRandom_SameSeed_MakesTheSameObjects(t *testing.T) {
	const seed, objects = 1, 100
	first, second := newFiller(rand.NewSource(seed), nil), newFiller(rand.NewSource(seed), nil)
	for range objects {
		var one, other covered
		first.fill(&one)
		second.fill(&other)
		expectSamef(t, canonical(t, one), canonical(t, other), "made from the same seed")
	}
}

// address is a URL, which not every combination of fields is.
type address url.URL

func (a *address) MarshalJSON() ([]byte, error) { return json.Marshal((*url.URL)(a).String()) }

func (a *address) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	parsed, err := url.Parse(text)
	if err == nil {
		*a = address(*parsed)
	}
	return err
}

// network is written as a text, and has no exported fields.
type network struct{ netip.Prefix }

func TestFiller_TypesWithTheirOwnJSON_AreReadable(t *testing.T) {
	random := newFiller(testrand.Source(t), nil).withEverything()
	for range 100 {
		var filled struct {
			Address  address             `json:"address"`
			Pointer  *address            `json:"pointer"`
			Each     map[string]*address `json:"each"`
			Networks []network           `json:"networks"`
			When     metav1.Time         `json:"when"`
		}
		random.fill(&filled)
		text := canonical(t, &filled)
		again := filled
		again.Networks = nil
		if err := json.Unmarshal([]byte(text), &again); err != nil {
			t.Fatalf("reading %s: %v", text, err)
		}
		expectSamef(t, text, canonical(t, &again), "reading the JSON of a random object")
		if filled.Address == (address{}) || *filled.Pointer == (address{}) || !filled.Networks[0].IsValid() {
			t.Fatalf("nothing in %s", text)
		}
	}
}
