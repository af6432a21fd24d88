/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// longestWay is the number of files from main to the write of an alias.
const longestWay = 7

// TestTour_WayFromMainToAnAlias_IsShort checks that each file of the way is in cmd, pkg or knative.dev/pkg, declares its function, and that a file above
// it mentions that function. The last one creates the alias.
func TestTour_WayFromMainToAnAlias_IsShort(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "docs/start/tour.md"), "\n## From main to the write of an alias\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| (knative\\.dev/pkg/)?\\[([^]]+)\\]\\([^)]+\\) \\| `(\\w+)` \\|").FindAllStringSubmatch(section, -1)
	if len(rows) < 2 || len(rows) > longestWay {
		t.Fatalf("the way has %d files, want at most %d", len(rows), longestWay)
	}
	_, library := knative(t)
	var above, last string
	for _, row := range rows {
		path := filepath.Join(root, row[2])
		if row[1] != "" {
			path = filepath.Join(library, row[2])
		} else if !strings.HasPrefix(row[2], "cmd/") && !strings.HasPrefix(row[2], "pkg/") {
			t.Errorf("%s is neither in cmd nor in pkg nor in knative.dev/pkg", row[2])
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		last = string(content)
		if !regexp.MustCompile(`(?m)^func (\([^)]+\) )?` + row[3] + `\(`).MatchString(last) {
			t.Errorf("%s does not declare %s", row[2], row[3])
		}
		if above != "" && !regexp.MustCompile(`\b`+row[3]+`\b`).MatchString(above) {
			t.Errorf("no file above %s mentions %s", row[2], row[3])
		}
		above += last
	}
	if !strings.Contains(last, ".Create(ctx, ") {
		t.Error("the last file creates no object")
	}
}

// The tour promises it. In a fork, which has the constructors of other kinds and a second notice of authors, the files may be longer.
func TestMains_ControllerAndWebhook_HaveAtMost30Lines(t *testing.T) {
	for _, path := range []string{"cmd/controller/main.go", "cmd/webhook/main.go"} {
		if lines := strings.Count(read(t, path), "\n"); lines > 30 {
			t.Errorf("%s has %d lines", path, lines)
		}
	}
}

// The header, comments and blank lines do not count.
func TestMains_WithoutHardening_HaveAtMost20Lines(t *testing.T) {
	for _, path := range []string{"test/plain/main.go", "test/plain/webhook/main.go"} {
		_, code, _ := strings.Cut(read(t, path), "*/\n")
		lines := 0
		for line := range strings.Lines(code) {
			if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "//") {
				lines++
			}
		}
		if lines == 0 || lines > 20 {
			t.Errorf("%s has %d lines", path, lines)
		}
	}
}
