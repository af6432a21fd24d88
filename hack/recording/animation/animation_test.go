/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package animation

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRender_Frames_AppearInOrderAndLastStays(t *testing.T) {
	svg := Render("title", []Frame{
		{Lines: []string{"$ <run>"}},
		{At: time.Second, Lines: []string{"$ <run>", "  step …"}},
		{At: time.Minute, Lines: []string{"$ <run>", "✓ step", "", "a  b"}},
	})
	for _, want := range []string{
		// The long gap is shortened to 1.5 s, and the last frame stays for 8 s: together 10.5 s.
		"animation:10.5s", "{0%{visibility:hidden}0.00%{visibility:visible}}#t0{", "9.52%{visibility:visible}23.81%{visibility:hidden}}#t1{",
		"{0%{visibility:hidden}23.81%{visibility:visible}}#t2{",
		`<text id="t0" class="last" x="16" y="30">$ &lt;run&gt;</text>`, `<text id="t1" class="dim" x="16" y="50">  step …</text>`,
		`class="last ok" x="16" y="50">✓ step</text>`, "prefers-reduced-motion",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the SVG has no %q:\n%s", want, svg)
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal("the SVG is not well-formed:", err)
		}
	}
	got, err := Last(strings.NewReader(svg))
	if want := []string{"$ <run>", "✓ step", "", "a  b"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the last frame is %q (%v), want %q", got, err, want)
	}
}

func TestNormalize_DurationsAndPaths_AreReplaced(t *testing.T) {
	for line, want := range map[string]string{
		"✓ Operator built                    1.0 s":                     "✓ Operator built …",
		"  export KUBECONFIG=/tmp/x-1/cluster/admin.kubeconfig":         "  export KUBECONFIG=…/cluster/admin.kubeconfig",
		"  ls /tmp/x-1/processes/*.log   # the logs":                    "  ls …/processes/*.log   # the logs",
		"  alias kubectl='/var/cache/localcluster kubectl'   # unless":  "  alias kubectl='…/localcluster kubectl'   # unless",
		"default  asvc/hello  True  http://hello.default.svc/greetings": "default  asvc/hello  True  http://hello.default.svc/greetings",
	} {
		if got := Normalize(line); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", line, got, want)
		}
	}
}
