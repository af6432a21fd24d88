/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const older = `// Package v1beta1 is the older version.
package v1beta1

import (
	"encoding/json"
	"fmt"

	newer "example.com/upstream/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Widget is a kind.
type Widget struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `

	// Mode is an enum.
	Mode  Mode // the way
	Size, Weight Amount
	Part newer.Part
}

// Mode is an enum.
type Mode string

const (
	// On is a mode.
	On Mode = "On"
	Off Mode = "Off"
)

type (
	// Amount has its own JSON.
	Amount struct{ value int }
	// Unused is not needed.
	Unused struct{ Amount Amount }
)

// MarshalJSON implements json.Marshaler.
func (a Amount) MarshalJSON() ([]byte, error) { return json.Marshal(format(a)) }

// Validate is not needed.
func (a Amount) Validate() error { return fmt.Errorf("not needed") }

var pattern, unused = "%d", "unused"

func format(a Amount) string { return pattern + a.unit() }

func (a Amount) unit() string { return "" }
`

const newer = `package v1

// Widget is a kind.
type Widget struct{}

type Part struct{ Name string }

type Unused struct{}
`

const wantOlder = `package v1beta1

import json "encoding/json"
import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
import newer "example.com/copy/v1"

// Widget is a kind.
// +conversion:name=Gadget
type Widget struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `

	// Mode is an enum.
	// +conversion:rename=Kind
// +conversion:enum=On:Yes
Mode  Mode // the way
	Size, Weight Amount
	Part newer.Part
}

// Mode is an enum.
type Mode string

const (
	// On is a mode.
	On Mode = "On"
	Off Mode = "Off"
)

// Amount has its own JSON.
type Amount struct{ value int }

// MarshalJSON implements json.Marshaler.
func (a Amount) MarshalJSON() ([]byte, error) { return json.Marshal(format(a)) }

var pattern, unused = "%d", "unused"

func format(a Amount) string { return pattern + a.unit() }

func (a Amount) unit() string { return "" }

`

const wantNewer = `package v1

// Widget is a kind.
type Widget struct{}

type Part struct{ Name string }

`

// extracted is an extractor that keeps Widget of both versions.
func extracted(t *testing.T) *extractor {
	t.Helper()
	e := newExtractor()
	paths := []string{"example.com/upstream/v1beta1", "example.com/upstream/v1"}
	for i, content := range []string{older, newer} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "types.go"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		e.parse(t, paths[i], dir)
	}
	e.checkAll()
	for _, path := range paths {
		if err := e.keep(path, "Widget"); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func translated(path string) string {
	return strings.Replace(path, "example.com/upstream", "example.com/copy", 1)
}

func TestExtract_Kind_IsCopiedWithWhatItNeeds(t *testing.T) {
	e := extracted(t)
	for path, want := range map[string]string{"example.com/upstream/v1beta1": wantOlder, "example.com/upstream/v1": wantNewer} {
		var markers map[string][]string
		if want == wantOlder {
			markers = map[string][]string{"Widget": {"conversion:name=Gadget"}, "Widget.Mode": {"conversion:rename=Kind", "conversion:enum=On:Yes"}}
		}
		files, err := e.write(e.sources[path], markers, translated)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"types.go": want}, files); diff != "" {
			t.Errorf("%s (-want +got): %s", path, diff)
		}
	}
}

func TestExtract_MarkersWithoutPlace_AreReported(t *testing.T) {
	e := extracted(t)
	markers := map[string][]string{"Widget.Size": {"a"}, "Widget.Mod": {"b"}, "Unused": {"c"}}
	_, err := e.write(e.sources["example.com/upstream/v1beta1"], markers, translated)
	const want = "markers of package example.com/upstream/v1beta1: Unused, Widget.Mod are no types or fields that a kind leads to"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestExtract_UnknownKind_IsReported(t *testing.T) {
	err := extracted(t).keep("example.com/upstream/v1", "Gadget")
	if err == nil || !strings.Contains(err.Error(), "example.com/upstream/v1 declares no type Gadget") {
		t.Errorf("got error %v", err)
	}
}
