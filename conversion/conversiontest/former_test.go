/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"slices"
	"strings"
	"testing"
)

func formerLamps(up, down func(spec whole)) Former {
	kind := lamps(nil)
	return Former{
		Older: kind.Versions[0], Newer: kind.Versions[1],
		Up: lamps(up).Converters[0], Down: lamps(down).Converters[0],
	}
}

func unchanged(whole) {}

func TestTestFormer_SameConversions_Pass(t *testing.T) {
	lamps(unchanged).TestFormer(t, formerLamps(unchanged, unchanged))
}

// Each difference is described by what the two conversions show, and by what they lose.
func TestTestFormer_OtherConversions_AreDescribed(t *testing.T) {
	for name, test := range map[string]struct {
		generated, up, down func(spec whole)
		unknown, lost       []string
	}{
		"former drops": {
			generated: unchanged, up: func(spec whole) { delete(spec, "note") }, down: unchanged,
			unknown: []string{`"v1beta1 → v1: spec.note": only the generated conversion shows`},
			lost:    []string{"v1 → v1beta1 → v1: spec.note", "v1beta1 → v1 → v1beta1: spec.note"},
		},
		"generated drops": {
			generated: func(spec whole) { delete(spec, "note") }, up: unchanged, down: unchanged,
			unknown: []string{
				`"v1 → v1beta1 → v1: spec.note": generated conversions lose`, `"v1 → v1beta1: spec.note": only the former conversion shows`,
				`"v1beta1 → v1 → v1beta1: spec.note": generated conversions lose`, `"v1beta1 → v1: spec.note": only the former conversion shows`,
			},
		},
		"another value": {
			generated: unchanged, up: func(spec whole) { spec["height"] = 7 }, down: unchanged,
			unknown: []string{`"v1beta1 → v1: spec.height": another representation`},
			lost:    []string{"v1 → v1beta1 → v1: spec.height", "v1beta1 → v1 → v1beta1: spec.height"},
		},
		"panic": {
			generated: unchanged, up: func(whole) { panic("unexpected") }, down: unchanged,
			unknown: []string{`"v1beta1 → v1: error": the former conversion fails`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			unknown, unused, lost := lamps(test.generated).compareFormer(t, formerLamps(test.up, test.down))
			if len(unused) != 0 {
				t.Errorf("unused: %q", unused)
			}
			expectBeginnings(t, "unknown", test.unknown, unknown)
			expectBeginnings(t, "lost", test.lost, lost)
		})
	}
}

func expectBeginnings(t *testing.T, what string, want, got []string) {
	t.Helper()
	if !slices.EqualFunc(want, got, func(want, got string) bool { return strings.HasPrefix(got, want) }) {
		t.Errorf("%s: got %q, want texts that begin with %q", what, got, want)
	}
}

// A known difference is accepted, also in a field below it, and reported once no object has it.
func TestTestFormer_KnownDifferences_AreAcceptedWhileTheyExist(t *testing.T) {
	former := formerLamps(func(spec whole) { delete(spec, "note") }, unchanged)
	former.Known = map[string]string{"v1beta1 → v1: spec": "reason", "v1beta1 → v1: spec.no": "never"}
	unknown, unused, _ := lamps(unchanged).compareFormer(t, former)
	if len(unknown) != 0 || !slices.Equal(unused, []string{"v1beta1 → v1: spec.no"}) {
		t.Errorf("unknown %q, unused %q", unknown, unused)
	}
}
