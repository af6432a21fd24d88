/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// exact is an integer that a float64 does not have.
const exact = 1<<53 + 1

func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// randomThing returns an object with the integer that must stay exact.
func randomThing(random *rand.Rand) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}, "exact": int64(exact), "spec": randomObject(random, 3, false),
	}}
}

// mutated returns a text with random changes.
func mutated(random *rand.Rand, text string, alphabet string) string {
	changed := []byte(text)
	for range random.IntN(4) {
		at := random.IntN(len(changed))
		switch random.IntN(3) {
		case 0:
			changed = changed[:at+1]
		case 1:
			changed[at] = alphabet[random.IntN(len(alphabet))]
		case 2:
			changed = append(changed[:at:at], text[random.IntN(len(text)):]...)
			changed = append(changed, text...)
			changed = changed[:min(len(changed), 200)]
		}
	}
	return string(changed)
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestMergePatch_RandomInput_DoesNotPanic(t *testing.T) {
	random := seeded(t)
	valid := 0
	for range inputs {
		encoded, isIntact := string(encode(t, map[string]any{"exact": int64(exact), "metadata": randomObject(random, 2, false)})), random.IntN(2) == 0
		if !isIntact {
			encoded = mutated(random, encoded, `{}[]",:0n`)
		}
		op := MergePatch(Ref{Kind: "Thing", Name: "a"}, encoded)
		if op.Validate() != nil {
			continue
		}
		valid++
		fields, err := decodeMergePatch(op.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if sent := string(encode(t, withPreconditions(fields, op.Preconditions))); isIntact && sent != encoded {
			t.Fatalf("%s is sent as %s", encoded, sent)
		}
	}
	if valid == 0 {
		t.Error("no patch was valid")
	}
}

// A JSON patch either does not fit, or leaves what it does not name exactly as it is.
func TestJSONPatch_RandomInput_DoesNotPanic(t *testing.T) {
	random := seeded(t)
	paths := []string{"/spec", "/spec/a", "/spec/b/0", "/spec/c/-", "/spec/d/a~1b", "/metadata/annotations", "/spec/a/-1", "/spec/b/99999999999999999999", ""}
	kinds := []string{"add", "remove", "replace", "move", "copy", "test"}
	valid, fitting := 0, 0
	for range inputs {
		var operations []any
		for range 1 + random.IntN(3) {
			operations = append(operations, map[string]any{
				"op": kinds[random.IntN(len(kinds))], "path": paths[random.IntN(len(paths))], "from": paths[random.IntN(len(paths))], "value": randomValue(random, 2, true),
			})
		}
		encoded := string(encode(t, operations))
		if random.IntN(4) == 0 {
			encoded = mutated(random, encoded, `{}[]",:0n/~`)
		}
		op := JSONPatch(Ref{Kind: "Thing", Name: "a"}, encoded)
		op.ID, op.IgnoreMissingPaths = "id", random.IntN(2) == 0
		if op.Validate() != nil {
			continue
		}
		valid++
		live := randomThing(random)
		c := &call{Client: &Client{}, op: op}
		patch, err := decodeJSONPatch(op.Patch)
		if err != nil {
			t.Fatal(err)
		}
		document, err := c.rehearse(t.Context(), live, patch)
		if err != nil || c.checkChange(live, document) != nil || strings.Contains(encoded, `"path":""`) {
			continue
		}
		after := &unstructured.Unstructured{Object: c.marked(live, document)}
		if _, _, err := unstructured.NestedStringMap(after.Object, "metadata", "annotations"); err != nil {
			continue // the API server rejects them
		}
		fitting++
		if !c.wasExecuted(after) {
			t.Fatalf("after %s, the annotations are %v", encoded, after.GetAnnotations())
		}
		if after.Object["exact"] != int64(exact) {
			t.Fatalf("after %s, the integer is %v", encoded, after.Object["exact"])
		}
	}
	t.Logf("%d were valid, %d fit", valid, fitting)
	if fitting == 0 {
		t.Error("no patch fits")
	}
}

// Random programs end with an object or an error, and the same program returns the same.
func TestJQ_RandomProgram_DoesNotPanic(t *testing.T) {
	random := seeded(t)
	programs := []string{
		".", ".spec.a = .exact", "del(.spec)", ".spec |= with_entries(.value = 1)", `.metadata.labels["a/b"] = "c"`, ".spec.a += [.exact]",
		". as $o | [.spec[]?] | {n: length, exact: $o.exact}", "reduce range(20) as $i (.; .spec[$i|tostring] = $i)", "if .spec.a then .x = 1 else . end",
		".exact += 1 | .exact -= 1", "to_entries | from_entries", "walk(.)", ".. |= .",
	}
	valid, returned := 0, 0
	for range inputs {
		program := programs[random.IntN(len(programs))] + " | " + programs[random.IntN(len(programs))]
		isIntact := random.IntN(2) == 0
		if !isIntact {
			program = mutated(random, program, "|.[]{}()$,:=+-*/?\"0a ")
		}
		if child.Compile(program) != nil {
			continue
		}
		run := jqChange(program)
		valid++
		live := randomThing(random)
		before := string(encode(t, live.Object))
		_, after, err := run(t.Context(), live)
		if string(encode(t, live.Object)) != before {
			t.Fatalf("%s changed its input", program)
		}
		if err != nil {
			continue
		}
		returned++
		// On a busy machine the second run may take longer than a program may.
		if _, again, err := run(t.Context(), live); err == nil && !equal(after, again) {
			t.Fatalf("%s returned %v, then %v", program, after, again)
		}
		if value, ok := after["exact"]; isIntact && ok && value != int64(exact) {
			t.Fatalf("%s made %v of the integer", program, value)
		}
	}
	t.Logf("%d compile, %d return an object", valid, returned)
	if returned == 0 {
		t.Error("no program returned an object")
	}
}
