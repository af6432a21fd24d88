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
	return convertedInJSON(version("v1beta1"), version("v1"), fault)
}

func convertedInJSON(older, newer Version, fault func(spec whole)) Kind {
	const inputs = 100
	return Kind{
		Annotation: "example.com/properties", Versions: []Version{older, newer}, inputs: inputs,
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

// oldBulb and newBulb are versions of a kind that have the same fields in JSON, and other types in Go.
type oldBulb struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"` //nolint:modernize // as in kinds

	Spec oldBulbSpec `json:"spec"`
}

type oldBulbSpec struct {
	oldSocket `json:",inline"`

	Watts  int32             `json:"watts"`
	Name   *string           `json:"name,omitempty"`
	Since  metav1.Time       `json:"since,omitzero"`
	Level  bulbLevel         `json:"level,omitzero"`
	Parts  []string          `json:"parts"`
	Colors map[string]string `json:"colors,omitempty"`
}

type oldSocket struct {
	Socket *string `json:"socket"`
	Size   int32   `json:"size"`
}

type newBulb struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"` //nolint:modernize // as in kinds

	Spec newBulbSpec `json:"spec"`
}

type newBulbSpec struct {
	newSocket `json:",inline"`

	Watts  int64             `json:"watts"`
	Name   string            `json:"name"`
	Since  *metav1.Time      `json:"since,omitempty"`
	Level  *bulbLevel        `json:"level,omitempty"`
	Parts  []string          `json:"parts,omitzero"`
	Colors map[string]string `json:"colors"`
}

type newSocket struct {
	Socket string `json:"socket"`
	Size   int32  `json:"size"`
}

// bulbLevel is a number that JSON shows as a text, and of which 50% is zero.
type bulbLevel struct{ above int8 }

func (l bulbLevel) IsZero() bool { return l.above == 0 }

func (l bulbLevel) MarshalJSON() ([]byte, error) {
	const middle = 50
	return json.Marshal(fmt.Sprintf("%d%%", middle+int(l.above)))
}

func (l *bulbLevel) UnmarshalJSON(text []byte) error {
	var percent int
	if _, err := fmt.Sscanf(string(text), `"%d%%"`, &percent); err != nil {
		return fmt.Errorf("reading a level: %w", err)
	}
	l.above = int8(percent - 50) //nolint:gosec,mnd // as above
	return nil
}

func bulbs(fault func(spec whole)) Kind {
	return convertedInJSON(
		Version{Name: "v1beta1", New: func() metav1.Object { return &oldBulb{} }},
		Version{Name: "v1", New: func() metav1.Object { return &newBulb{} }},
		fault,
	)
}

// Both versions show the same JSON where their types are others: that with a pointer or a value, an omitted zero, and a wider number.
func TestShown_TypesThatDiffer_AreCompared(t *testing.T) {
	const older, newer = 0, 1
	for name, test := range map[string]struct {
		from         int
		object, want string
		fault        func(object whole)
	}{
		"wider number": {
			older, `{"spec":{"socket":null,"size":1,"watts":2147483647,"parts":null}}`, "spec.watts: want 2147483647, got -1",
			func(spec whole) { spec["watts"] = -1 },
		},
		"pointer to a value": {
			older, `{"spec":{"name":"a","socket":null,"size":1,"watts":1,"parts":null}}`, `spec.name: want "a", got ""`,
			func(spec whole) { delete(spec, "name") },
		},
		"omitted time": {
			older, `{"spec":{"since":"2020-01-01T00:00:00Z","socket":null,"size":1,"watts":1,"parts":null}}`, `spec.since: want "2020-01-01T00:00:00Z", got nothing`,
			func(spec whole) { delete(spec, "since") },
		},
		"omitted JSON": {
			newer, `{"spec":{"level":"60%","name":"","socket":"a","size":1,"watts":1,"colors":null}}`, `spec.level: want "60%", got nothing`,
			func(spec whole) { delete(spec, "level") },
		},
		"null": {
			newer, `{"spec":{"name":"","socket":"a","size":1,"watts":1,"colors":null}}`, `spec.colors: want nothing, got {"a":"b"}`,
			func(spec whole) { spec["colors"] = whole{"a": "b"} },
		},
		"empty list": {
			newer, `{"spec":{"parts":[],"name":"","socket":"a","size":1,"watts":1,"colors":null}}`, `spec.parts: want [], got nothing`,
			func(spec whole) { delete(spec, "parts") },
		},
		"empty map": {
			older, `{"spec":{"colors":{"a":"b"},"socket":null,"size":1,"watts":1,"parts":null}}`, `spec.colors.a: want "b", got nothing`,
			func(spec whole) { spec["colors"] = whole{} },
		},
		"labels": {
			older, `{"metadata":{"labels":{"a":"b"}},"spec":{"socket":null,"size":1,"watts":1,"parts":null}}`, `metadata: want {"labels":{"a":"b"}}, got nothing`,
			nil,
		},
		"inlined": {
			newer, `{"spec":{"name":"","socket":"","size":1,"watts":1,"colors":null}}`, `spec.socket: want "", got nothing`,
			func(spec whole) { delete(spec, "socket") },
		},
		"inlined without anything": {
			newer, `{"spec":{"name":"","socket":"","size":0,"watts":1,"colors":null}}`, `: `,
			func(spec whole) { delete(spec, "socket") },
		},
		"nothing wrong": {
			older, `{"metadata":{"labels":{"a":"b"}},"spec":{"socket":"a","size":1,"watts":1,"parts":[],"colors":{"a":"b"},"level":"40%"}}`, `: `, func(whole) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kind := bulbs(test.fault)
			a, b := kind.Versions[test.from], kind.Versions[1-test.from]
			if test.fault == nil {
				inJSON := bulbs(func(whole) {}).Converters[0]
				kind.Converters = []Converter{func(ctx context.Context, from, to metav1.Object) error {
					defer func() { to.SetLabels(nil) }()
					return inJSON(ctx, from, to)
				}}
			}
			alike, _ := kind.alike(a, b)
			path, difference := kind.shownWrong(t, alike, test.object, kind.Annotation, a, b)
			if got := path + ": " + difference; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
