/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProgress_LinesOfTheGoCommand_AreCounted checks how each kind of line that the go command writes is counted.
func TestProgress_LinesOfTheGoCommand_AreCounted(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, binaryName)
	p.compiling(map[string]bool{"fmt": true, "k8s.io/api/core/v1": true})
	for line, want := range map[string]bool{
		"go: downloading k8s.io/api v0.35.4": true,
		"fmt":                                true,
		"not/expected":                       true,
		"# example.com/broken":               false,
		"main.go:3:1: undefined: nothing":    false,
		"go: updates to go.mod needed":       false,
		"k8s.io/api/core/v1":                 true,
	} {
		if got := p.line(line); got != want {
			t.Errorf("%q taken for progress: %t", line, got)
		}
	}
	if p.compiled != 2 || p.downloaded != 1 || p.phase != "linking localcluster" && !strings.HasPrefix(p.phase, "downloading") {
		t.Errorf("counted %d packages and %d modules in the phase %q", p.compiled, p.downloaded, p.phase)
	}
}

// TestProgress_LogAndTerminal_PrintBatches checks that a log gets a line for some of the packages only, and a terminal a single line that
// is overwritten.
func TestProgress_LogAndTerminal_PrintBatches(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var out bytes.Buffer
		p := newProgress(&out, binaryName)
		p.terminal = terminal
		packages := map[string]bool{}
		for i := range 120 {
			packages[fmt.Sprintf("example.com/a/package/with/quite/a/long/path/such/as/there/are/many/%03d", i)] = true
		}
		p.compiling(packages)
		out.Reset()
		for i := range 119 {
			p.line(fmt.Sprintf("example.com/a/package/with/quite/a/long/path/such/as/there/are/many/%03d", i))
		}
		text := out.String()
		if !terminal {
			if diff := cmp.Diff([]int{2, 0}, []int{strings.Count(text, "\n"), strings.Count(text, "\r")}); diff != "" {
				t.Errorf("lines and rewritings in a log (-want +got):\n%s\n%s", diff, text)
			}
			continue
		}
		if got := strings.Count(text, "\n"); got != 0 {
			t.Errorf("%d lines stay on a terminal", got)
		}
		for shown := range strings.SplitSeq(text, "\r\x1b[K") {
			if len([]rune(shown)) > width {
				t.Errorf("too long for a terminal: %q", shown)
			}
		}
	}
}
