//go:build nightly

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

// TestReadme_MakeRun_PrintsTheLinesShown does what README begins with, in an empty folder,
// from what is committed, and finds in its output each line that README shows.
func TestReadme_MakeRun_PrintsTheLinesShown(t *testing.T) {
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var quickstart, shown string
	for _, b := range blocks(t, "README.md") {
		if apart[b.text] == "TestReadme_MakeRun_PrintsTheLinesShown" {
			quickstart = b.text
		}
		if strings.HasSuffix(b.attributes["shown-by"], ":TestReadme_MakeRun_PrintsTheLinesShown") {
			shown = b.text
		}
	}
	if quickstart == "" || shown == "" {
		t.Fatal("README.md does not begin with how to run it and what that shows")
	}
	reader := shell{dir: t.TempDir(), env: append(os.Environ(),
		// The repository is cloned from here, and make run is to come to an end.
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=url."+repository+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/mallard-dev/mallard",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*",
		"WAIT=ready")}
	output := strings.Split(normalize(reader.run(t, quickstart, false)), "\n")
	for line := range strings.SplitSeq(strings.TrimSpace(normalize(shown)), "\n") {
		if !containsLine(output, line) {
			t.Errorf("make run does not print this line of README.md: %q\nit prints:\n%s", line, strings.Join(output, "\n"))
		}
	}
}

func containsLine(lines []string, line string) bool {
	for _, l := range lines {
		if shows(line, l) {
			return true
		}
	}
	return false
}

// normalize takes out what differs from run to run: durations, times of day, folders.
func normalize(text string) string {
	for pattern, replacement := range map[string]string{
		`\d+(\.\d+)? m?s\b`:              "DURATION",
		`(?m)^\d\d:\d\d:\d\d `:           "TIME ",
		`KUBECONFIG=\S*/cluster/admin\.`: "KUBECONFIG=FOLDER/cluster/admin.",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, replacement)
	}
	return text
}
