/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostile returns a file with up to the most bytes.
type hostile struct{ begin, repeat, end string }

func (h hostile) file() []byte {
	return []byte(h.begin + strings.Repeat(h.repeat, max(0, MostBytes-len(h.begin)-len(h.end))/max(1, len(h.repeat))) + h.end)
}

// hostileFiles have as many values as so many bytes can have.
func hostileFiles() map[string]hostile {
	const reference = `"operationType":"MergePatch","kind":"ConfigMap","namespace":"d","name":"a"`
	const spec, text = `{` + reference + `,"spec":{"data":[0`, `{"operationType":"JSONPatch","kind":"ConfigMap","name":"a","spec":"[`
	const reverse = "operationType: MergePatch\nkind: ConfigMap\nnamespace: d\nname: a\nspec:\n  data:\n"
	names := &strings.Builder{}
	for i := 0; names.Len() < MostBytes-1000; i++ {
		fmt.Fprintf(names, `"%d":0,`, i)
	}
	return map[string]hostile{
		"integers":            {spec, ",0", "]}}"},
		"objects":             {spec, `,{"a":0}`, "]}}"},
		"nested objects":      {spec, `,{"a":{"a":{"a":{"a":0}}}}`, "]}}"},
		"texts":               {spec, `,""`, "]}}"},
		"fields":              {"{" + reference + `,"spec":{"data":{` + names.String(), "", `"a":0}}}`},
		"unknown fields":      {"{" + names.String(), "", reference + "}"},
		"operations":          {"", "{}", ""},
		"text in a field":     {text + "0", ",{}", `]"}`},
		"texts in fields":     {"", text + strings.Repeat("{},", 10_000) + `{}]"}`, ""},
		"line breaks":         {"{", "\n", "}"},
		"YAML integers":       {reverse + "   [0", ",0", "]"},
		"YAML keys":           {reverse + "   {a: 0", ",a", "}"},
		"YAML questions":      {reverse + "  ", "? ", ""},
		"YAML documents":      {"", "---\n", ""},
		"YAML no documents":   {reverse + "   [0", strings.Repeat(",0", 100_000) + "\n---a", "]"},
		"YAML long documents": {"", reverse + "   [0" + strings.Repeat(",.5", 200_000) + "]\n---\n", ""},
		"YAML numbers":        {reverse + "   [" + strings.ReplaceAll(strings.ReplaceAll(names.String()[:2_000_000], `"`, ""), ":0", ".5"), "", "0]"},
		"YAML comments":       {reverse + "    a: b\n", "# a\n", ""},
		"YAML aliases":        {reverse + "    a: &a " + strings.Repeat("x", MostBytes/2) + "\n    b: [", "", strings.Repeat("*a,", 1000) + "]"},
		"YAML nested aliases": {reverse + "    a0: &a0 [0,0,0,0,0,0,0,0,0,0]\n", "", repeated("    a%[2]d: &a%[2]d [*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d]\n")},
		"YAML merged aliases": {reverse + "    a0: &a0 {k: 0}\n", "", repeated("    a%[2]d: &a%[2]d {<<: [*a%[1]d, *a%[1]d], k%[1]d: 0}\n")},
	}
}

// repeated returns lines with a number and the next one.
func repeated(line string) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, line, i, i+1)
	}
	return b.String()
}

// answers are the errors about the files that do not have too many marks, which is the error about the others. Some files are valid.
var answers = map[string]string{
	"operations": "operationType is missing", "line breaks": "operationType is missing", "texts in fields": "path must be a JSON pointer",
	"YAML merged aliases": "more than 1000000 values", "YAML documents": "more than 1000000 values", "YAML long documents": "more than 1000000 values",
	"YAML nested aliases": "more than 1000000 values", "YAML aliases": "more than 16777216 bytes", "YAML comments": "", "YAML numbers": "",
}

// mostAllocated bounds what reading a file allocates in total. No more than that is needed at a time.
const mostAllocated = 1 << 30

// mostUsed bounds the CPU time of reading a file, which takes a few seconds of one core. Reading that is quadratic in the bytes takes hours.
const mostUsed = time.Minute

// used returns the CPU time of this process, with its garbage collection.
func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// checkAllocated checks the error about a file, how many bytes the parser allocates for it, and how much CPU time it uses.
func checkAllocated(t *testing.T, name string, content []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := used(t)
	_, err := Parse(content)
	cpu := used(t) - began
	runtime.ReadMemStats(&after)
	t.Logf("%s: %d MiB, %s of CPU time, %.200v", name, (after.TotalAlloc-before.TotalAlloc)>>20, cpu, err)
	want, isOther := answers[name]
	if !isOther {
		want = "the document has more than 250000 commas, brackets, colons and dashes: split it"
	}
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: the error is %v, want %q", name, err, want)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > mostAllocated {
		t.Errorf("%s: reading the file allocates %d bytes, want at most %d", name, got, mostAllocated)
	}
	if cpu > mostUsed {
		t.Errorf("%s: reading the file uses %s of CPU time, want at most %s", name, cpu, mostUsed)
	}
}

func TestParse_ManyValues_AllocateABoundedAmount(t *testing.T) {
	for _, name := range []string{"objects", "YAML integers", "YAML no documents", "YAML nested aliases", "YAML aliases"} {
		checkAllocated(t, name, hostileFiles()[name].file())
	}
}
