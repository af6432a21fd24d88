/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mallard-dev/mallard/conversion"
)

// annotated is an object of v1alpha1 with everything that it can show and this annotation.
func annotated(text string) *oldWidget {
	return &oldWidget{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{annotation: text, "other": "stays"}},
		Spec: oldWidgetSpec{
			ServiceName: "web", Path: "/p", Retries: &oldRetries{Attempts: 3},
			Headers:  map[string]oldHeader{"h": {Value: "1"}},
			Rewrites: []oldRewrite{{From: "/a", To: "/b"}},
			Ports:    []oldPort{{Name: "http", Port: 80}},
		},
	}
}

// full is a hub object with everything set.
func full() *widget {
	return &widget{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"other": "stays"}},
		Spec: widgetSpec{
			Ref:      &reference{Kind: "Broker", Name: "b"},
			Path:     new(""),
			Headers:  map[string]header{"x~1": {Value: "v", Overwrite: new(false)}, "é\"<": {Overwrite: new(true)}, "plain": {}},
			Rewrites: []rewrite{{From: "/a", To: "/b", Code: new(int32(301))}, {From: "/a", To: "/b"}, {From: "/c", Code: new(int32(302))}},
			Ports: []port{
				{Name: "http", Port: new(int32(80)), AppProtocol: new("http")},
				{Name: "admin", Port: new(int32(0))},
				{Name: "a~2", AppProtocol: new("x")},
			},
			Retries: &retries{Backoff: &metav1.Duration{Duration: 5}},
			Probe:   &probe{Path: "/healthz"},
		},
	}
}

func TestAnnotation_FieldsMissingFromAnOldVersion_AreRestored(t *testing.T) {
	hub := full()
	expectJSON(t, stored(t, shown(t, hub)), hub)
}

func TestAnnotation_FieldsMissingFromTheHub_AreRestored(t *testing.T) {
	old := annotated("")
	delete(old.Annotations, annotation)
	old.Spec.Template = new("{{.Name}}")
	expectJSON(t, shown(t, stored(t, old)), old)
}

func TestAnnotation_EveryVersionShowsTheObject_IsAbsent(t *testing.T) {
	hub := &widget{Spec: widgetSpec{Ref: &reference{Kind: "Service", Name: "web"}, Path: new("/p")}}
	old := shown(t, hub)
	if old.Annotations != nil {
		t.Errorf("annotations %v", old.Annotations)
	}
	expectJSON(t, stored(t, old), hub)
}

func TestAnnotation_StorageType_NeverHasIt(t *testing.T) {
	old := shown(t, full())
	var storage oldWidgetStorage
	if err := old.AssignProperties_To_Widget(&storage); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"other": "stays"}, storage.ObjectMeta.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if _, ok := old.Annotations[annotation]; !ok {
		t.Error("the source has lost its annotation")
	}
}

func TestAnnotation_SetByAHookInTheStorageType_IsDropped(t *testing.T) {
	var storage oldWidgetStorage
	storage.ObjectMeta.Annotations = map[string]string{annotation: `{"e":{"v1/a":{"d":1}},"f":1}`}
	var old oldWidget
	if err := old.AssignProperties_From_Widget(&storage); err != nil {
		t.Fatal(err)
	}
	if got := old.Annotations[annotation]; got != "" {
		t.Errorf("the annotation is %s", got)
	}
}

func TestAnnotation_NilAnnotations_StayNil(t *testing.T) {
	for name, annotations := range map[string]map[string]string{"nil": nil, "empty": {}, "one": {"a": "b"}} {
		hub := full()
		hub.Annotations = annotations
		var storage widgetStorage
		if err := hub.AssignProperties_To_Widget(&storage); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(annotations, storage.ObjectMeta.Annotations); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
		back := stored(t, shown(t, hub))
		if len(back.Annotations) != len(annotations) || (back.Annotations != nil && len(annotations) == 0) {
			t.Errorf("%s: annotations are %#v after a round trip", name, back.Annotations)
		}
	}
}

func TestAnnotation_EntryWithoutItsElement_IsDropped(t *testing.T) {
	hub := full()
	old := shown(t, hub)
	old.Spec.Retries = nil
	old.Spec.Headers = nil
	old.Spec.Ports = slices.Delete(old.Spec.Ports, 0, 1)
	old.Spec.Rewrites = old.Spec.Rewrites[1:]

	hub.Spec.Retries = nil
	hub.Spec.Headers = nil
	hub.Spec.Ports = hub.Spec.Ports[1:]
	hub.Spec.Rewrites = hub.Spec.Rewrites[1:]
	// The first of two equal elements was deleted, but the list does not show which one: the place decides.
	hub.Spec.Rewrites[0].Code = new(int32(301))
	expectJSON(t, stored(t, old), hub)
}

func TestAnnotation_ListElementsWithKeys_KeepTheirEntries(t *testing.T) {
	old := shown(t, full())
	slices.Reverse(old.Spec.Ports)
	old.Spec.Ports = slices.Insert(old.Spec.Ports, 1, oldPort{Name: "new"})
	old.Spec.Ports[3].Port = 81
	want := []port{
		{Name: "a~2", AppProtocol: new("x")},
		{Name: "new"},
		{Name: "admin", Port: new(int32(0))},
		{Name: "http", Port: new(int32(81)), AppProtocol: new("http")},
	}
	expectJSON(t, stored(t, old).Spec.Ports, want)
}

func TestAnnotation_KeysThatAreNotUnique_LoseNothing(t *testing.T) {
	hub := &widget{Spec: widgetSpec{Ports: []port{
		{Name: "a", AppProtocol: new("1")}, {Name: "a", AppProtocol: new("2")}, {Name: "a~2", AppProtocol: new("3")}, {Name: "a~02", AppProtocol: new("4")}, {}, {AppProtocol: new("5")},
	}}}
	expectJSON(t, stored(t, shown(t, hub)), hub)
}

func TestAnnotation_VisibleEdit_WinsOverMarks(t *testing.T) {
	hub := full()
	hub.Spec.Ref = nil
	old := shown(t, hub)
	old.Spec.Path, old.Spec.ServiceName = "/new", "web"
	got := stored(t, old).Spec
	expectJSON(t, got.Path, "/new")
	expectJSON(t, got.Ref, &reference{Kind: "Service", Name: "web"})
}

func TestAnnotation_EntriesOfOtherPrograms_AreKeptThroughBothVersions(t *testing.T) {
	const text = `{"c":{"spec":{"c":{"headers":{"c":{"h":{"e":{"v2/b":{"d":[1]}}}}},"ports":{"c":{"http":{"e":{"v2/c":{"d":{}}}}}},` +
		`"retries":{"e":{"v2/d":{"d":"\u003c"}}},"rewrites":{"c":{"0:8RGNPYfvUjs":{"e":{"v2/e":{"d":1.0}}}}}},` +
		`"e":{"v2/a":{"b":"basis","d":{"z":1,"a":2}}}}},"e":{"/":{"d":0},"v2":{"d":1}},"f":1}`
	old := annotated(text)
	hub := stored(t, old)
	if got := hub.Annotations[annotation]; got == "" || !strings.Contains(got, `"v2/a":{"b":"basis","d":{"z":1,"a":2}}`) {
		t.Errorf("v1 has %s", got)
	}
	if got := shown(t, hub).Annotations[annotation]; got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
}

func TestAnnotation_LaterFormat_IsKeptUnchanged(t *testing.T) {
	for _, text := range []string{`{"f":2,"c":[1, {"x":"\u003c"}]}`, `{"f":99}`, ` {"e":7,"f":2} `} {
		old := annotated(text)
		hub := stored(t, old)
		if got := hub.Annotations[annotation]; got != text {
			t.Errorf("v1 has %s, want %s", got, text)
		}
		// With our own entry, it is within that until it is alone again.
		hub.Spec.Probe = &probe{Path: "/healthz"}
		representation := shown(t, hub)
		expectJSON(t, stored(t, representation), hub)

		// The same applies to an adjacent entry.
		beside := strings.Replace(representation.Annotations[annotation], `"/format":`, `"v2/a":{"d":1},"/format":`, 1)
		hub = stored(t, annotated(beside))
		if got := hub.Annotations[annotation]; !strings.Contains(got, `"v2/a":{"d":1}`) || !strings.Contains(got, "/format") {
			t.Errorf("%s becomes %s", beside, got)
		}
	}
}

func TestAnnotation_EntriesOfRetiredVersions_AreDropped(t *testing.T) {
	hub := stored(t, annotated(`{"c":{"spec":{"e":{"v1alpha0/a":{"d":1},"v1alpha01/b":{"d":2}}}},"e":{"v1alpha0/c":{"d":3}},"f":1}`))
	if got, want := hub.Annotations[annotation], `{"c":{"spec":{"e":{"v1alpha01/b":{"d":2}}}},"f":1}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnnotation_Malformed_IsDroppedAndCountedOnce(t *testing.T) {
	clean := annotated("")
	delete(clean.Annotations, annotation)
	want := stored(t, clean)
	many := make([]string, conversion.MaxEntries+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"v2/%d":{"d":0}`, i)
	}
	for _, text := range []string{
		" ", "{", "null", "[]", "1", `"{}"`, "{}", `{"f":0}`, `{"f":-1}`, `{"f":1.5}`, `{"f":"1"}`, `{"f":null}`, `{"e":{"v2/a":{"d":1}}}`, `{"f":1}{}`,
		strings.Repeat("[", 1<<20), strings.Repeat(`{"c":`, 20000), `{"f":1,"e":{` + strings.Join(many, ",") + `}}`,
		`{"f":1,"e":{"v2/a":{"d":"` + strings.Repeat("x", conversion.HardLimit) + `"}}}`, "\x00\xff",
	} {
		expectCounted(t, "conversion.bag.dropped", "", 1, func() { expectJSON(t, stored(t, annotated(text)), want) })
	}
	expectCounted(t, "conversion.bag.dropped", "", 0, func() { expectJSON(t, stored(t, annotated("")), want) })
}

func TestAnnotation_MalformedParts_AreDroppedAndTheRestIsKept(t *testing.T) {
	nested := strings.Repeat("[", conversion.MaxNesting) + strings.Repeat("]", conversion.MaxNesting)
	for text, dropped := range map[string]int64{
		`{"f":1,"x":1`: 1, `{"f":1,"c":[]`: 1, `{"f":1,"c":{"spec":[]}`: 1, `{"f":1,"c":{"spec":{"c":1,"e":2,"n":4,"z":[5]}}`: 4,
		`{"f":1,"c":{"spec":{"f":1,"t":2}}`: 2, `{"f":1,"t":9`: 1, `{"f":1,"n":{}`: 1, `{"f":1,"c":{"spec":{"e":{"v1/probe":{"d":[]}}}}`: 1,
		`{"f":1,"c":{"spec":{"e":{"v2/a":{"d":[` + nested + `]}}}}`: 1,
	} {
		expectCounted(t, "conversion.bag.dropped", "entry", dropped, func() {
			hub := stored(t, annotated(text+`,"e":{"v2/a":{"d":1}}}`))
			if got, want := hub.Annotations[annotation], `{"e":{"v2/a":{"d":1}},"f":1}`; got != want {
				t.Errorf("%s: v1 has %s, want %s", text, got, want)
			}
		})
	}
}

func TestAnnotation_TooLarge_IsLeftOutAndCounted(t *testing.T) {
	many := make(map[string]header, conversion.MaxEntries+1)
	for i := range conversion.MaxEntries + 1 {
		many[strconv.Itoa(i)] = header{Overwrite: new(true)}
	}
	for name, spec := range map[string]widgetSpec{
		"bytes":   {Probe: &probe{Path: strings.Repeat("x", conversion.HardLimit)}},
		"entries": {Headers: many},
	} {
		hub := &widget{Spec: spec}
		hub.Spec.Path = new("/p")
		expectCounted(t, "conversion.bag.truncated", "", 1, func() {
			old := shown(t, hub)
			expectTruncated(t, old)
			back := stored(t, old)
			expectJSON(t, back.Spec.Path, "/p")
			if back.Annotations != nil || back.Labels != nil {
				t.Errorf("%s: the truncated representation left %v and %v at v1", name, back.Annotations, back.Labels)
			}
		})
	}
	hub := &widget{Spec: widgetSpec{Headers: maps.Clone(many)}}
	delete(hub.Spec.Headers, "0")
	expectJSON(t, stored(t, shown(t, hub)), hub)
	expectCounted(t, "conversion.bag.large", "", 1, func() {
		hub := &widget{Spec: widgetSpec{Probe: &probe{Path: strings.Repeat("x", conversion.SoftLimit)}}}
		expectJSON(t, stored(t, shown(t, hub)), hub)
	})
}

// expectTruncated expects that a representation has no annotation of ours, and a label that is valid.
func expectTruncated(t *testing.T, old *oldWidget) {
	t.Helper()
	if got, ok := old.Annotations[annotation]; ok {
		t.Errorf("the annotation is %.40q", got)
	}
	value, ok := old.Labels[oldProperties.TruncatedLabel()]
	if need, err := strconv.Atoi(value); !ok || err != nil || need <= 0 {
		t.Errorf("the label is %q (%t)", value, ok)
	}
	for _, problems := range [][]string{validation.IsQualifiedName(oldProperties.TruncatedLabel()), validation.IsValidLabelValue(value)} {
		if len(problems) > 0 {
			t.Errorf("the label %s=%s is invalid: %v", oldProperties.TruncatedLabel(), value, problems)
		}
	}
}

// filledTo is a hub object whose own annotations have this many bytes.
func filledTo(bytes int) *widget {
	hub := full()
	hub.Annotations = map[string]string{"filler": strings.Repeat("x", bytes-len("filler"))}
	return hub
}

func TestStore_OwnAnnotationsLeaveNoRoom_StashIsLeftOut(t *testing.T) {
	const total = apivalidation.TotalAnnotationSizeLimitB
	stash := len(annotation) + len(shown(t, full()).Annotations[annotation])

	fits := filledTo(total - stash)
	expectJSON(t, stored(t, shown(t, fits)), fits)

	for _, bytes := range []int{total - stash + 1, total} {
		hub := filledTo(bytes)
		expectCounted(t, "conversion.bag.truncated", "", 1, func() {
			old := shown(t, hub)
			expectTruncated(t, old)
			if err := apivalidation.ValidateAnnotationsSize(old.Annotations); err != nil {
				t.Errorf("with %d bytes: %v", bytes, err)
			}
			back := stored(t, old)
			if diff := cmp.Diff(hub.ObjectMeta, back.ObjectMeta); diff != "" {
				t.Errorf("metadata after a round trip with %d bytes (-want +got):\n%s", bytes, diff)
			}
		})
	}
}

// The annotations were shortened at v1, where the label cannot be seen; or a client has set the label there.
func TestStore_StashFits_LabelIsRemoved(t *testing.T) {
	hub := full()
	hub.Labels[oldProperties.TruncatedLabel()] = "1"
	old := shown(t, hub)
	if diff := cmp.Diff(map[string]string{"l": "1"}, old.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	expectJSON(t, stored(t, old), full())
}

// Hooks read the annotations of former conversions, which converted objects do not have.
func TestAnnotation_OfFormerConversions_IsLoadedAndNotStored(t *testing.T) {
	a := conversion.Annotation{Name: annotation, Former: []string{"former", "missing"}}
	src := metav1.ObjectMeta{Annotations: map[string]string{"former": "data", "other": "stays"}}
	var loaded, stored metav1.ObjectMeta
	a.Load(&loaded, &src)
	if loaded.Annotations["former"] != "data" {
		t.Errorf("loaded %v", loaded.Annotations)
	}
	a.Store(&stored, &loaded, conversion.NewWriter())
	if diff := cmp.Diff(map[string]string{"other": "stays"}, stored.Annotations); diff != "" {
		t.Errorf("stored (-want +got): %s", diff)
	}
}
