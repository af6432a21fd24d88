/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// headings are the sections of an issue in docs/upstream.
var headings = regexp.MustCompile(`(?s)\n## What happens\n.*\n## Reproduction\n.*\n## Expected\n.*\n## Proposed change\n.*\n## Workaround\n`)

// faults finds the tests of the fault, as opposed to those of the workaround.
var faults = regexp.MustCompile("\nTests? of the fault(?:, with and without the workaround)?: (`Test\\w+`(?:,\\s`Test\\w+`)*)")

// TestUpstream_Issues_FitTheRequiredRelease checks that each issue has all sections, names the required release of knative.dev/pkg, has a reproduction
// that a test of the fault shows, and that the lines which it proposes to change are those of that release.
func TestUpstream_Issues_FitTheRequiredRelease(t *testing.T) {
	version, dir := knative(t)
	issues := 0
	for _, file := range documents(t) {
		if filepath.Dir(file) != "docs/upstream" || filepath.Base(file) == "README.md" {
			continue
		}
		issues++
		content := read(t, file)
		cited := faults.FindStringSubmatch(content)
		if !headings.MatchString(content) || !strings.Contains(content, version) || cited == nil {
			t.Errorf("%s: a section, the version %s or a test of the fault is missing", file, version)
			continue
		}
		for _, b := range blocks(t, file) {
			if _, test, ok := strings.Cut(b.attributes["shown-by"], ":"); ok && !strings.Contains(cited[1], "`"+test+"`") {
				t.Errorf("%s: %s is not among the tests of the fault, %s", b, test, cited[1])
			}
			if name, line, ok := strings.Cut(b.attributes["upstream"], ":"); ok {
				compare(t, b, filepath.Join(dir, name), line)
			}
		}
	}
	if issues == 0 {
		t.Error("there are no issues")
	}
}

// knative returns the required version of knative.dev/pkg, and its folder.
func knative(t *testing.T) (version, dir string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", "knative.dev/pkg")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	version, dir, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	return version, dir
}

// compare compares the lines of a diff that a file has before the change with those from a line on.
func compare(t *testing.T, b block, path, first string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%s: %v", b, err)
		return
	}
	n, err := strconv.Atoi(first)
	if err != nil || n < 1 {
		t.Errorf("%s: line %q: %v", b, first, err)
		return
	}
	lines := strings.Split(string(content), "\n")
	for changed := range strings.SplitSeq(strings.TrimSuffix(b.text, "\n"), "\n") {
		if strings.HasPrefix(changed, "+") {
			continue
		}
		if n > len(lines) || strings.TrimLeft(changed, "- ") != strings.TrimLeft(lines[n-1], " ") {
			t.Errorf("%s: line %d of %s is not %q", b, n, path, changed)
			return
		}
		n++
	}
}
