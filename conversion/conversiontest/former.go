/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion"
)

// Former are the hand-written conversions between two versions of a kind that generated ones replace.
type Former struct {
	// Older and Newer have the names of versions of the kind, and make the objects that the former conversions take.
	Older, Newer Version
	// Up converts an object of the older version to the newer one, and Down the other way.
	Up, Down Converter
	// Known are the differences that are meant, each with its reason, as TestFormer prints them: a direction and the path of a field, such as
	// "v1beta1 → v1: spec.size". The entry of a field is for everything in the field, too.
	Known map[string]string
}

// TestFormer converts the same random objects by the generated and by the former conversions. It fails for each difference that is not known,
// and describes it: a value that only one of the two shows, another representation, or a value that the generated conversions lose on the
// way to the other version and back. It logs those that the former conversions lose. It also fails for known differences that no object has.
func (k Kind) TestFormer(t *testing.T, former Former) {
	t.Helper()
	unknown, unused, lost := k.compareFormer(t, former)
	for _, each := range lost {
		t.Logf("lost by the former conversions: %s", each)
	}
	const most = 50
	if len(unknown) > most {
		unknown = append(unknown[:most], fmt.Sprintf("… and %d more", len(unknown)-most))
	}
	if unknown != nil {
		t.Errorf("the conversions differ; correct the markers, or add what is meant to Known:\n%s", strings.Join(unknown, "\n"))
	}
	if unused != nil {
		t.Errorf("no object has these known differences: %s", strings.Join(unused, ", "))
	}
}

// compareFormer returns the differences that are not known, the known ones that no object has, and what the former conversions lose on the way back.
func (k Kind) compareFormer(t *testing.T, former Former) (unknown, unused, lost []string) {
	t.Helper()
	if k.inputs == 0 {
		k.inputs = k.affordable(t)
	}
	found, lostAt := make(map[string]string), make(map[string]string)
	for _, way := range []struct {
		from, to    Version
		there, back Converter
	}{{former.Older, former.Newer, former.Up, former.Down}, {former.Newer, former.Older, former.Down, former.Up}} {
		from, to := k.version(t, way.from.Name), k.version(t, way.to.Name)
		random := newFiller(rand.NewSource(sameObjects), k.Functions) // differences are known by the objects that have them
		for range k.inputs {
			object := canonical(t, random.object(t, from))
			shown := canonical(t, k.converted(t, object, from, to))
			back := canonical(t, k.converted(t, shown, to, from))
			formerShown, err := convertText(t, way.there, object, way.from, way.to)
			if err != nil {
				found[from.Name+" → "+to.Name+": error"] = "the former conversion fails: " + err.Error()
				continue
			}
			formerBack, err := convertText(t, way.back, formerShown, way.to, way.from)
			if err != nil {
				found[to.Name+" → "+from.Name+": error"] = "the former conversion fails: " + err.Error()
				continue
			}
			there := from.Name + " → " + to.Name
			shown, formerShown = to.withoutNull(t, visible(t, shown, k.Annotation)), to.withoutNull(t, visible(t, formerShown, k.Annotation))
			object, back, formerBack = from.withoutNull(t, object), from.withoutNull(t, back), from.withoutNull(t, formerBack)
			note(found, there, shown, formerShown, "only the former conversion shows %[2]s",
				"only the generated conversion shows %[1]s", "another representation: %s is generated, the former conversion shows %s")
			again := there + " → " + from.Name
			note(found, again, object, back, "generated conversions add %[2]s", "generated conversions lose %[1]s", "generated conversions change %s to %s")
			note(lostAt, again, object, formerBack, "added %[2]s", "%[1]s", "%s becomes %s")
		}
	}
	used := make(map[string]bool)
	for _, at := range slices.Sorted(maps.Keys(found)) {
		known := slices.DeleteFunc(slices.Collect(maps.Keys(former.Known)), func(each string) bool { return !isWithin(at, each) })
		for _, each := range known {
			used[each] = true
		}
		if len(known) == 0 {
			unknown = append(unknown, fmt.Sprintf("%q: %s", at, found[at]))
		}
	}
	for each := range former.Known {
		if !used[each] {
			unused = append(unused, each)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(lostAt)) {
		lost = append(lost, at+": "+lostAt[at])
	}
	slices.Sort(unused)
	return unknown, unused, lost
}

var indices = regexp.MustCompile(`\[\d+\]`)

// note adds an example of each difference of two objects, described by one of three texts: what only one of them has, or both.
func note(found map[string]string, way, one, other, onlyOther, onlyOne, both string) {
	for path, values := range differences("", decoded(one), decoded(other)) {
		at := way + ": " + indices.ReplaceAllString(path, "[]")
		text := both
		switch {
		case found[at] != "":
			continue
		case values[0] == nil:
			text = onlyOther
		case values[1] == nil:
			text = onlyOne
		}
		found[at] = fmt.Sprintf(text, brief(values[0]), brief(values[1]))
	}
}

func brief(value any) string { return cutTo(200, inText(value)) }

// isWithin reports whether a difference is at a place, or in a field below it.
func isWithin(at, place string) bool {
	rest, ok := strings.CutPrefix(at, place)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (k Kind) version(t *testing.T, name string) Version {
	t.Helper()
	at := slices.IndexFunc(k.Versions, func(v Version) bool { return v.Name == name })
	if at < 0 {
		t.Fatalf("the kind has no version %s", name)
	}
	return k.Versions[at]
}

// convertText converts an object that may be invalid for former conversions.
func convertText(t *testing.T, by Converter, text string, from, to Version) (shown string, err error) {
	t.Helper()
	source, made := from.New(), to.New()
	defer conversion.Recover(&err, source)
	if err := json.Unmarshal([]byte(text), source); err != nil {
		return "", fmt.Errorf("reading %s: %w", from.Name, err)
	}
	if err := by(t.Context(), source, made); err != nil {
		return "", err
	}
	return canonical(t, made), nil
}
