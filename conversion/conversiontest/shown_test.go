/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lamp is a kind of which both versions have the same types, except for the values of an enum.
type lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"` //nolint:modernize // as in kinds

	Spec lampSpec `json:"spec"`
}

type lampSpec struct {
	Default *anyJSON   `json:"default,omitempty"`
	Parts   []lampPart `json:"parts,omitempty"`
	Mode    lampMode   `json:"mode,omitempty"`
	Height  int32      `json:"height"`
	Note    *string    `json:"note,omitempty"`
}

type lampMode string

type lampPart struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"` //nolint:modernize // as in kinds
}

// lamps is the kind with a conversion that changes the spec, as JSON, on the way.
func lamps(fault func(spec whole)) Kind {
	version := func(name string) Version { return Version{Name: name, New: func() metav1.Object { return &lamp{} }} }
	const inputs = 100
	return Kind{
		Annotation: "example.com/properties", Versions: []Version{version("v1beta1"), version("v1")}, inputs: inputs,
		Values:    map[string]map[string][]string{"v1": {"lampMode": {"On", "Off", "Dim"}}, "v1beta1": {"lampMode": {"On", "Off"}}},
		Functions: []any{OneOf[lampMode]("On", "Off", "Dim")},
		Converters: []Converter{func(_ context.Context, from, to metav1.Object) error {
			text, err := json.Marshal(from)
			if err != nil {
				return fmt.Errorf("marshaling: %w", err)
			}
			object := whole{}
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.UseNumber()
			if err := decoder.Decode(&object); err != nil {
				return fmt.Errorf("unmarshaling: %w", err)
			}
			if spec, ok := object["spec"].(whole); ok {
				fault(spec)
			}
			if text, err = json.Marshal(object); err != nil {
				return fmt.Errorf("marshaling: %w", err)
			}
			return json.Unmarshal(text, to)
		}},
	}
}

// A value is shown wrong even if the way back would repair it: the oracle looks at the converted object.
func TestShown_WrongValue_IsFound(t *testing.T) {
	const fill = `{"metadata":{"name":"a"},"spec":{"default":{"a":[1]},"parts":[{"kind":"Part","metadata":{"name":"b"}}],"mode":"Dim","height":0,"note":""}}`
	for name, test := range map[string]struct {
		fault func(spec whole)
		want  string
	}{
		"JSON in a field that JSON leaves out": {func(spec whole) { delete(spec, "default") }, `spec.default: want {"a":[1]}, got nothing`},
		"metadata inside": {
			func(spec whole) { spec["parts"] = []any{whole{"metadata": whole{}}} }, `spec.parts[0].kind: want "Part", got nothing`,
		},
		"value of the newer version": {func(whole) {}, `spec.mode: "Dim", and the version declares only On, Off`},
		"zero":                       {func(spec whole) { spec["mode"], spec["height"] = nil, 1 }, `spec.height: want 0, got 1`},
		"absent":                     {func(spec whole) { delete(spec, "note"); spec["mode"] = "Off" }, `spec.mode: want "Dim", got "Off"`},
		"empty text":                 {func(spec whole) { delete(spec, "note") }, `spec.note: want "", got nothing`},
	} {
		t.Run(name, func(t *testing.T) {
			kind := lamps(test.fault)
			object := fill
			if name != "value of the newer version" && name != "absent" {
				object = strings.Replace(object, `"mode":"Dim",`, "", 1)
			}
			newer, older := kind.Versions[1], kind.Versions[0]
			alike, _ := kind.alike(newer, older)
			path, difference := kind.shownWrong(t, alike, object, kind.Annotation, newer, older)
			if got := path + ": " + difference; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// What markers decide about is not compared, nor is anything wrong with the same values.
func TestShown_DecidedOrRight_IsAccepted(t *testing.T) {
	kind := lamps(func(spec whole) {
		delete(spec, "default")
		delete(spec, "parts")
		if spec["mode"] == "Dim" {
			spec["mode"] = "On"
		}
	})
	kind.Decided = map[string][]string{"v1beta1": {"lampSpec.Default", "*.Mode"}, "→ v1": {"lampPart"}}
	kind.shownAlike(t, kind.Annotation, kind.Versions[1], kind.Versions[0])

	right := lamps(func(whole) {})
	right.Values = nil
	right.shownAlike(t, right.Annotation, right.Versions[1], right.Versions[0])
}
