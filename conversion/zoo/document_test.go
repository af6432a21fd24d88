/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/template"
)

//go:embed page.md.tmpl
var pageText string

var pageTemplate = template.Must(template.New("").Funcs(template.FuncMap{
	"join": strings.Join,
	"count": func(all []*Difference) (fields int) {
		for _, each := range all {
			fields += len(each.Paths)
		}
		return fields
	},
}).Parse(pageText))

// entry is an API on the page.
type entry struct {
	*API

	Lines   lines
	Former  []string
	Markers int
	// Dropped are the fields that assign-gen loses because a marker demands it, with its text.
	Dropped     []string
	Differences *Differences
}

// document returns the page docs/reference/conversion-zoo.md in Markdown: the effort for each API, and how its conversions differ from those of the
// other project.
func document(t testing.TB, apis []*API) []byte {
	t.Helper()
	entries := make([]entry, len(apis))
	for i, api := range apis {
		entries[i] = entry{API: api, Lines: api.countLines(t), Former: api.withFormer(t).Former(), Differences: api.loadDifferences(t)}
		entries[i].countMarkers()
	}
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, map[string]any{"APIs": entries, "Each": fmt.Sprintf("%d,%03d", tripsEach/1000, tripsEach%1000)}); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

func (e *entry) countMarkers() {
	for _, version := range e.Versions {
		for _, name := range slices.Sorted(maps.Keys(version.Markers)) {
			e.Markers += len(version.Markers[name])
			for _, marker := range version.Markers[name] {
				if _, reason, ok := strings.Cut(marker, "=drop,reason="); ok {
					e.Dropped = append(e.Dropped, fmt.Sprintf("`%s.%s`: %s", version.Name(), name, reason))
				}
			}
		}
	}
}

// places are the fields as on the page.
func (d *Difference) places() string {
	places := make([]string, len(d.Paths))
	for i, path := range d.Paths {
		below, anywhere := strings.CutPrefix(strings.TrimSuffix(path, "$"), "*.")
		places[i] = "`" + below + "`"
		if anywhere {
			places[i] = "`…" + below + "`"
		}
	}
	return strings.Join(places, ", ")
}

// Row is the difference as a row of a table.
func (d *Difference) Row() string {
	direction := "each"
	switch {
	case d.From != "" && d.To != "":
		direction = d.From + " → " + d.To
	case d.From != "":
		direction = "from " + d.From
	case d.To != "":
		direction = "to " + d.To
	}
	return strings.Join([]string{"", cell(cmp.Or(d.Kind, "each")), cell(direction), cell(d.places()), cell(d.Reason), ""}, "|")
}

// cell is a text within a table.
func cell(text string) string { return " " + strings.ReplaceAll(text, "|", `\|`) + " " }
