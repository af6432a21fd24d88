//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// previousVersion unpacks the version to upgrade from.
func previousVersion(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	archive := dir + "/previous.tar"
	git(t, "archive", "--output", archive, upgradeFrom(t))
	if out, err := exec.CommandContext(t.Context(), "tar", "-x", "-f", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("unpacking the previous version: %v: %s", err, out)
	}
	return dir
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// substantial is the minimum number of lines of the processes and their manifests that must have changed since the version to upgrade from. A commit
// that renames a helper changes fewer.
const substantial = 1000

// upgradeFrom is the last release before HEAD, or before the first release the newest commit from which HEAD differs substantially.
func upgradeFrom(t *testing.T) string {
	t.Helper()
	if tag := git(t, "tag", "--list", "v*", "--merged", "HEAD", "--no-contains", "HEAD", "--sort=-version:refname"); tag != "" {
		return strings.Fields(tag)[0]
	}
	paths := append([]string{"--"}, installed(t)...)
	for commit := range strings.FieldsSeq(git(t, append([]string{"rev-list", "--first-parent", "HEAD"}, paths...)...)) {
		if changedLines(git(t, append([]string{"diff", "--unified=0", commit, "HEAD"}, paths...)...)) >= substantial {
			return commit
		}
	}
	if git(t, "rev-parse", "--is-shallow-repository") == "true" {
		t.Fatalf("no commit of this clone differs from HEAD by %d lines: it is too shallow to show an upgrade (git fetch --unshallow)", substantial)
	}
	return firstCommit(t)
}

// image matches the package of a process in a manifest.
var image = regexp.MustCompile(`ko://(\S+)`)

// installed returns patterns of git for the hand-written files that the processes of config/ are built from, and for their manifests.
func installed(t *testing.T) []string {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(root, "config", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"list", "-deps", "-f", `{{with .Module}}{{if or .Main .Replace}}{{$.Dir}}{{end}}{{end}}`}
	for _, manifest := range manifests {
		content, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range image.FindAllSubmatch(content, -1) {
			args = append(args, string(match[1]))
		}
	}
	list := exec.CommandContext(t.Context(), "go", args...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("listing the packages of the processes: %v", err)
	}
	patterns := []string{"go.mod", "config", ":!config/300-*", ":!pkg/client", ":!*_test.go", ":!*/zz_generated.*"}
	top := git(t, "rev-parse", "--show-toplevel") + "/"
	for folder := range strings.FieldsSeq(string(out)) {
		patterns = append(patterns, ":(glob)"+strings.TrimPrefix(folder, top)+"/*.go")
	}
	return patterns
}

// changedLines counts the lines of a diff without context that are neither comments nor empty.
func changedLines(diff string) int {
	changed := 0
	for line := range strings.Lines(diff) {
		isHeader := strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ")
		text := strings.TrimSpace(line[1:])
		if strings.ContainsAny(line[:1], "+-") && !isHeader && text != "" && !strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "#") {
			changed++
		}
	}
	return changed
}

func firstCommit(t *testing.T) string {
	t.Helper()
	return strings.Fields(git(t, "rev-list", "--first-parent", "--max-parents=0", "HEAD"))[0]
}

func TestChangedLines_CommentsAndEmptyLines_AreNotCounted(t *testing.T) {
	const diff = `diff --git a/cmd/a.go b/cmd/a.go
index 1..2 100644
--- a/cmd/a.go
+++ b/cmd/a.go
@@ -1,2 +1,4 @@ func a() {
-	// before
+	// after
+
-	one()
+	two()
--- a/config/a.yaml
+++ b/config/a.yaml
@@ -7 +7,2 @@
+  # a comment
+  - name: it
`
	if got, want := changedLines(diff), 3; got != want {
		t.Errorf("%d lines have changed, want %d", got, want)
	}
}

func TestUpgradeFrom_ChosenVersion_DiffersInWhatIsLinked(t *testing.T) {
	patterns := installed(t)
	for pattern, want := range map[string]bool{
		"cmd/controller": true, "hardening": true, "conversion/knative": true, "pkg/reconciler/addressbinding": true, "crud/cmd/crud": false, "pkg/migration": false,
	} {
		if got := slices.Contains(patterns, ":(glob)"+pattern+"/*.go"); got != want {
			t.Errorf("%s is counted: %v, want %v", pattern, got, want)
		}
	}
	from := upgradeFrom(t)
	changed := changedLines(git(t, append([]string{"diff", "--unified=0", from, "HEAD", "--"}, patterns...)...))
	t.Logf("the processes and their manifests differ from %s by %d lines", from, changed)
	if changed == 0 && from != firstCommit(t) {
		t.Errorf("nothing that is installed differs between %s and HEAD", from)
	}
}
