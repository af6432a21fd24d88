/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// inputs is the number of random inputs that each property is tested with.
const inputs = 10_000

// randomObject returns a JSON object with few keys, so that two of them share some.
func randomObject(random *rand.Rand, depth int, nulls bool) map[string]any {
	object := map[string]any{}
	for range random.IntN(4) {
		object[string(rune('a'+random.IntN(4)))] = randomValue(random, depth, nulls)
	}
	return object
}

func randomValue(random *rand.Rand, depth int, nulls bool) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch random.IntN(kinds) {
	case 0:
		return int64(1)<<53 + 1 + random.Int64N(2)
	case 1:
		return random.IntN(2) == 0
	case 2:
		if nulls {
			return nil
		}
		return 0.5
	case 3:
		return string(rune('a' + random.IntN(3)))
	case 4:
		list := make([]any, random.IntN(3))
		for i := range list {
			list[i] = randomValue(random, depth-1, false)
		}
		return list
	}
	return randomObject(random, depth-1, nulls)
}

// patched returns an object after a merge patch, as the API server computes it.
func patched(t *testing.T, object, patch map[string]any) map[string]any {
	t.Helper()
	documents := make([][]byte, 2)
	for i, value := range []map[string]any{object, patch} {
		var err error
		if documents[i], err = json.Marshal(value); err != nil {
			t.Fatal(err)
		}
	}
	merged, err := jsonpatch.MergePatch(documents[0], documents[1])
	if err != nil {
		t.Fatal(err)
	}
	var result map[string]any
	if err := utiljson.Unmarshal(merged, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestMergePatch_RandomObjects_LiveGetsTheDesiredFieldsAndKeepsOthers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range inputs {
		live, desired := randomObject(random, 3, false), randomObject(random, 3, true)
		patch := mergePatch(live, desired, false)
		if patch == nil {
			continue
		}
		after := patched(t, live, patch)
		if again := mergePatch(after, desired, false); again != nil {
			t.Fatalf("after the patch %v of %v to %v, there is still the difference %v", patch, live, desired, again)
		}
		for key, value := range live {
			if _, ok := desired[key]; !ok && !equal(after[key], value) {
				t.Fatalf("the patch %v of %v to %v changed %s", patch, live, desired, key)
			}
		}
	}
}

func TestMergePatch_Removes_LiveBecomesTheDesiredState(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range inputs {
		live, desired := randomObject(random, 3, false), randomObject(random, 3, false)
		after := live
		if patch := mergePatch(live, desired, true); patch != nil {
			after = patched(t, live, patch)
		}
		if !equal(after, desired) {
			t.Fatalf("%v was patched to %v, want %v: %s", live, after, desired, cmp.Diff(desired, after))
		}
	}
}

func TestEqual_Numbers_CompareByValue(t *testing.T) {
	const large = int64(9007199254740993)
	for _, tc := range []struct {
		a, b any
		want bool
	}{
		{int64(1), 1.0, true},
		{1.0, int64(1), true},
		{int64(1), 1.5, false},
		{large, float64(large), false},
		{large, large, true},
		{"1", int64(1), false},
		{nil, nil, true},
		{[]any{int64(1)}, []any{1.0}, true},
		{map[string]any{"a": nil}, map[string]any{}, false},
	} {
		if got := equal(tc.a, tc.b); got != tc.want {
			t.Errorf("equal(%v, %v) is %t", tc.a, tc.b, got)
		}
	}
}
