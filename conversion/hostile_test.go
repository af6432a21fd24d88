/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"

	"sigs.k8s.io/randfill"

	"github.com/mallard-dev/mallard/conversion"
)

// hostile holds annotations that no client should write, and valid ones that a fuzzer can vary.
var hostile = []string{
	"", " ", "{", "}", "null", "[]", "0", `"`, `{"f":1}`, `{"f":2}`, `{"f":1,"t":99999}`, `{"f":1,"t":true}`, "\x00", "\xff\xfe", "{\"f\":1}\n",
	`{"f":1,"c":{"spec":{"e":{"v1/probe":{"d":{"path":7}},"v1/ref":{"b":"x","d":{"Kind":"K","Name":null}}}}}}`,
	`{"f":1,"c":{"spec":{"n":["serviceName","path"],"z":["path","serviceName",""]}}}`,
	`{"f":1,"f":2,"c":{},"c":{"spec":{}},"e":{"a/b":{"d":1},"a/b":{"d":2,"d":3}}}`,
	`{"f":1,"c":{"spec":{"c":{"rewrites":{"c":{"0:":{"e":{"v1/code":{"d":1}}},"0:x":{"e":{"v1/code":{"d":2}}},"-1:":{},"9:x":{}}}}}}}`,
	`{"f":1,"c":{"spec":{"c":{"ports":{"c":{"http":{"e":{"v1/appProtocol":{"d":"\ud800"}}},"~":{},"http~1":{},"http~2":{}}}}}}}`,
	`{"f":1,"e":{"/format":{"d":"x"}}}`, `{"f":1,"e":{"/format":{"d":7}}}`, `{"f":1,"e":{"/format":{"d":""}}}`,
	`{"f":1,"c":{"spec":{"e":{"v1/probe":{"d":{"period":"1s","path":"/","propertyBag":{"v1alpha1/x":{"d":1},"y":7}}}}}}}`,
	`{"f":1,"e":{"v1/ports":{"d":1e999}}}`, `{"f":1e0}`, `{"f":9999999999999999999999}`,
	strings.Repeat("[", 1<<20), strings.Repeat(`{"c":`, 1<<12), `{"f":1,"c":` + strings.Repeat(`{"a":{"c":`, 2000),
	`{"f":1` + strings.Repeat(`,"c":{"spec":{"c":{}}}`, 1000) + `}`,
	`{"f":1,"c":{` + strings.Repeat(`"":{},`, 5000) + `"spec":{}}}`,
	`{"f":1,"c":{"spec":` + strings.Repeat(`{"c":{"headers":`, 40) + `{}` + strings.Repeat(`}}`, 40) + `}}`,
	strings.Repeat("x", 1<<20), `{"f":1,"e":{"v2/a":{"d":"` + strings.Repeat("x", 1<<20) + `"}}}`,
}

// convertHostile converts an object with any annotation, at either version, and checks what holds whatever it says.
func convertHostile(t *testing.T, text string) {
	t.Helper()
	old := annotated(text)
	before := deepCopy(old)
	hub := stored(t, old)
	if jsonOf(t, old) != jsonOf(t, before) {
		t.Error("the source was changed")
	}
	expectVisible(t, hub)
	// What has been taken over once is stable.
	representation := shown(t, hub)
	if !isTruncated(t, representation) {
		again := stored(t, representation)
		expectJSON(t, again, hub)
	}

	atHub := stored(t, annotated(""))
	atHub.Annotations[annotation] = text
	representation = shown(t, atHub)
	if representation.Spec.ServiceName != "web" || len(representation.Spec.Ports) != 1 || len(representation.Spec.Rewrites) != 1 || len(representation.Spec.Headers) != 1 {
		t.Errorf("v1alpha1 shows %s", jsonOf(t, representation.Spec))
	}
	expectWithinLimits(t, representation.Annotations)
	expectVisible(t, stored(t, representation))
	// Their results depend on the damage; they must not panic.
	_ = oldProperties.Validate(old, old)
	_ = properties.ValidateRepresentation("v1alpha1", old)
}

// expectVisible checks that every field that annotated shows is set.
func expectVisible(t *testing.T, hub *widget) {
	t.Helper()
	spec := hub.Spec
	if *spec.Path != "/p" || spec.Headers["h"].Value != "1" || spec.Rewrites[0].To != "/b" || *spec.Ports[0].Port != 80 || *spec.Retries.Attempts != 3 ||
		len(spec.Headers)+len(spec.Rewrites)+len(spec.Ports) != 3 || hub.Annotations["other"] != "stays" {
		t.Errorf("v1 has %s", jsonOf(t, hub))
	}
	expectWithinLimits(t, hub.Annotations)
}

func expectWithinLimits(t *testing.T, annotations map[string]string) {
	t.Helper()
	if got := len(annotations[annotation]); got > conversion.HardLimit {
		t.Errorf("an annotation of %d bytes", got)
	}
}

func isTruncated(t *testing.T, representation *oldWidget) bool {
	t.Helper()
	_, marked := representation.Labels[oldProperties.TruncatedLabel()]
	return marked
}

func TestAnnotation_Hostile_NeitherFailsNorLosesData(t *testing.T) {
	for _, text := range hostile {
		convertHostile(t, text)
		const runs, most = 1, 200_000
		if got := testing.AllocsPerRun(runs, func() { stored(t, annotated(text)) }); got > most {
			t.Errorf("%.60s costs %v allocations", text, got)
		}
	}
}

func TestAnnotation_RandomDamage_NeitherFailsNorLosesData(t *testing.T) {
	rounds(t, func(random *rand.Rand, fill *randfill.Filler) {
		var hub widget
		fill.Fill(&hub)
		hub.Spec = full().Spec
		convertHostile(t, damaged(random, shown(t, &hub).Annotations[annotation]))
	})
}

// damaged changes, cuts, repeats and swaps parts of a text.
func damaged(random *rand.Rand, text string) string {
	data := []byte(text)
	part := func() (from, to int) {
		from = random.Intn(len(data))
		return from, from + random.Intn(min(len(data)-from, 40)+1)
	}
	values := []string{"null", "{}", "[]", "0", `""`, "-1e9", `{"d":[]}`, "\"\\u0000\"", "\xff", strings.Repeat("[", 50), "true"}
	for range random.Intn(4) + 1 {
		from, end := part()
		switch random.Intn(6) {
		case 0:
			data[from] = byte(random.Intn(256))
		case 1:
			data = append(data[:from:from], data[end:]...)
		case 2:
			data = append(data[:end:end], data[from:]...)
		case 3:
			data = append(append(data[:from:from], values[random.Intn(len(values))]...), data[end:]...)
		case 4:
			// A value in the place of another is valid JSON of the wrong type.
			at := bytes.IndexByte(data[from:], ':')
			if stop := bytes.IndexAny(data[from+max(at, 0):], ",}"); at >= 0 && stop >= 0 {
				at += from + 1
				stop += at - 1
				data = append(append(data[:at:at], values[random.Intn(len(values))]...), data[stop:]...)
			}
		default:
			data = data[:from+1]
		}
		if len(data) == 0 {
			return ""
		}
	}
	return string(data)
}

func FuzzAnnotation(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Add(shown(f, full()).Annotations[annotation])
	f.Fuzz(convertHostile)
}

// FuzzBag reads a bag and takes everything out of it that it may hold.
func FuzzBag(f *testing.F) {
	f.Add([]byte(`{"v1/probe":{"b":"x","d":{"path":"/"}},"v1/ref":{"d":[]}}`))
	f.Add([]byte(`[{"d":1}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var bag conversion.PropertyBag
		if err := bag.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		again := bagOf(t, jsonOf(t, bag))
		if len(again) != len(bag) || jsonOf(t, again) != jsonOf(t, bag) {
			t.Errorf("%s becomes %s", jsonOf(t, bag), jsonOf(t, again))
		}
		for key := range bag.Clone() {
			var out *probeStorage
			var number *int32
			clone := bag.Clone()
			if found, match := bag.Take(key, &out), clone.TakeDerived(key, nil, &number); (out != nil) != found || (number != nil) != (match != conversion.None) {
				t.Errorf("%s: found %v, match %v, but took %v and %v", key, found, match, out, number)
			}
		}
		if len(bag) != 0 {
			t.Errorf("left is %v", bag)
		}
	})
}

// FuzzCanonical checks that canonical JSON means what it meant, and is stable.
func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":[1,{"d":"\u003c\ud800","c":1e5}],"a":"é"}`))
	f.Add([]byte(`{"a":1,"a":{"":null}}`))
	f.Fuzz(expectCanonical)
}
