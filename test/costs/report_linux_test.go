//go:build nightly && peers

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// report writes two tables in Markdown: the figures of all operators, and those of the first one divided by those of each other one. results are the
// figures by operator and run.
func report(operators []operator, results [][][]figure) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Objects: %d. Runs: %d. Idle for: %v. Processors: %d, %s. Compiler: %s.\n\n",
		*peerObjects, *peerRuns, *peerIdle, runtime.NumCPU(), runtime.GOARCH, runtime.Version())
	header, ratios := []string{"figure"}, []string{"ratio"}
	for i, o := range operators {
		header = append(header, o.name)
		if i > 0 {
			ratios = append(ratios, "to "+o.name)
		}
	}
	names := namesOf(results)
	writeTable(&text, header, names, func(i int, name string) string { return spread(values(results[i], name)) })
	text.WriteString("\n")
	writeTable(&text, ratios, names, func(i int, name string) string {
		return spread(quotients(values(results[0], name), values(results[i+1], name)))
	})
	return text.String()
}

// writeTable writes a table with a row for each name. cell returns the content of a cell, by its column after the name.
func writeTable(text *strings.Builder, header, names []string, cell func(column int, name string) string) {
	row := func(cells []string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	row(header)
	text.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for _, name := range names {
		cells := []string{name}
		for i := range header[1:] {
			cells = append(cells, cell(i, name))
		}
		row(cells)
	}
}

// namesOf returns the names of all figures, in the order in which they were measured.
func namesOf(results [][][]figure) (names []string) {
	for _, figures := range slices.Concat(results...) {
		at := 0
		for _, f := range figures {
			if i := slices.Index(names, f.name); i >= 0 {
				at = i + 1
				continue
			}
			names = slices.Insert(names, at, f.name)
			at++
		}
	}
	return names
}

// values returns a figure of each run, which is 0 in a run that lacks it, such as the number of a request that was not sent. It returns nil if all lack it.
func values(runs [][]figure, name string) []float64 {
	found, all := false, make([]float64, len(runs))
	for run, figures := range runs {
		if i := slices.IndexFunc(figures, func(f figure) bool { return f.name == name }); i >= 0 {
			found, all[run] = true, figures[i].value
		}
	}
	if !found {
		return nil
	}
	return all
}

// quotients divides the values of two operators run by run.
func quotients(of, by []float64) (all []float64) {
	for i := range min(len(of), len(by)) {
		if by[i] > 0 {
			all = append(all, of[i]/by[i])
		}
	}
	return all
}

// spread returns the median of values, with the minimum and the maximum if they differ.
func spread(values []float64) string {
	if len(values) == 0 {
		return "–"
	}
	sorted := slices.Sorted(slices.Values(values))
	least, median, most := number(sorted[0]), number(sorted[len(sorted)/2]), number(sorted[len(sorted)-1])
	if least == most {
		return median
	}
	return median + " (" + least + "–" + most + ")"
}

// number rounds to three digits.
func number(value float64) string {
	if value == 0 {
		return "0"
	}
	return strconv.FormatFloat(value, 'f', max(0, 2-int(math.Floor(math.Log10(math.Abs(value))))), 64)
}

// update replaces the figures for a number of objects in a document, or adds them at its end.
func update(path string, objects int, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := fmt.Sprintf("<!-- figures: %d objects -->\n", objects), fmt.Sprintf("<!-- end: %d objects -->\n", objects)
	before, rest, _ := strings.Cut(string(content), begin)
	_, after, _ := strings.Cut(rest, end)
	section := fmt.Sprintf("%s\n### %d objects\n\n%s\n%s", begin, objects, text, end)
	if rest == "" {
		section = "\n" + section
	}
	return os.WriteFile(path, []byte(before+section+after), 0o644)
}

func TestPeersReport_Update_ReplacesTheFiguresOfTheSameNumberOfObjects(t *testing.T) {
	results := make([][][]figure, len(operators))
	for i := range results {
		results[i] = [][]figure{{{"rate", 300}, {"conflicts", 0}}, {{"rate", 100}, {"conflicts", 0}}, {{"rate", 200.4}, {"conflicts", 0}}}
	}
	results[1][2] = []figure{{"rate", 0.1}, {"gets", 0.1234}, {"conflicts", 0}}
	text := report(operators, results)
	for _, want := range []string{
		"| rate | 200 (100–300) | 100 (0.100–300) | 200 (100–300) |", "| gets | – | 0 (0–0.123) | – |", "| conflicts | 0 | 0 |", "| rate | 1.00 (1.00–2004) | 1.00 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not contain %q:\n%s", want, text)
		}
	}
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("# Figures\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, written := range []struct {
		objects int
		text    string
	}{{10, "a\n"}, {200, "b\n"}, {10, "c\n"}} {
		if err := update(path, written.objects, written.text); err != nil {
			t.Fatal(err)
		}
	}
	const want = "# Figures\n" +
		"\n<!-- figures: 10 objects -->\n\n### 10 objects\n\nc\n\n<!-- end: 10 objects -->\n" +
		"\n<!-- figures: 200 objects -->\n\n### 200 objects\n\nb\n\n<!-- end: 200 objects -->\n"
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("the page is %q (%v), want %q", got, err, want)
	}
}
