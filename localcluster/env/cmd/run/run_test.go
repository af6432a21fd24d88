/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// object reads one manifest.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	objects, err := manifest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0]
}

const meta = "apiVersion: samples.knative.dev/v1\nkind: AddressableService\nmetadata: {name: a, namespace: ns, generation: 2}\n"

func TestRow_Object_ShowsItsState(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		text   string
		want   row
		ready  bool
	}{
		"Untouched": {reason: "it is not reconciled yet", text: meta, want: row{ready: "Unknown"}},
		"Ready": {
			reason: "the address is that of the duck type",
			text:   meta + "status: {observedGeneration: 2, address: {url: http://a}, conditions: [{type: Ready, status: 'True'}]}\n",
			want:   row{ready: "True", url: "http://a"}, ready: true,
		},
		"Outdated": {
			reason: "what was Ready before the last change need not be so now",
			text:   meta + "status: {observedGeneration: 1, url: http://a, conditions: [{type: Ready, status: 'True'}]}\n",
			want:   row{ready: "True", url: "http://a"},
		},
		"NotReady": {
			reason: "the reason is that of Ready",
			text:   meta + "status: {conditions: [{type: Other, status: 'True', reason: Other}, {type: Ready, status: 'False', reason: Why}]}\n",
			want:   row{ready: "False", reason: "Why"},
		},
		"Deleting": {
			reason: "an object that is being deleted is not what it was",
			text:   strings.Replace(meta, "generation: 2", "deletionTimestamp: '2026-01-01T00:00:00Z'", 1) + "status: {conditions: [{type: Ready, status: 'True'}]}\n",
			want:   row{ready: "True", reason: "Deleting"}, ready: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := object(t, test.text)
			test.want.namespace, test.want.name = "ns", "asvc/a"
			if diff := cmp.Diff(test.want, newRow("asvc", o), cmp.AllowUnexported(row{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if got := isReady(o); got != test.ready {
				t.Errorf("%s: isReady is %t, want %t", test.reason, got, test.ready)
			}
		})
	}
}

func TestTable_Rows_AreAligned(t *testing.T) {
	t.Parallel()
	got := table([]row{
		{namespace: "default", name: "asvc/hello", ready: "True", url: "http://hello"},
		{namespace: "x", name: "asvc/a-long-name", ready: "False", reason: "TargetNotFound"},
	})
	want := []string{
		"NAMESPACE  NAME              READY    REASON          URL",
		"default    asvc/hello        True                     http://hello",
		"x          asvc/a-long-name  False    TargetNotFound",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// newTestScreen is a screen of this size.
func newTestScreen(terminal bool, width, height int) (*screen, *bytes.Buffer) {
	var out bytes.Buffer
	return &screen{out: &out, terminal: terminal, size: func() (int, int) { return width, height }}, &out
}

var seconds = regexp.MustCompile(` +\d+\.\d s`)

func TestSteps_Progress_IsPrinted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason   string
		terminal bool
		want     string
	}{
		"Terminal": {
			reason: "the line of a step is replaced, unless another has come below it", terminal: true,
			want: "  A …\n\x1b[1A\x1b[2K✓ A done\n  B …\n  C …\n✓ B done\n✓ C done\n  D …\nprogress\n✓ D done\n",
		},
		"File": {
			reason: "nothing is taken back",
			want:   "  A …\n✓ A done\n  B …\n  C …\n✓ B done\n✓ C done\n  D …\nprogress\n✓ D done\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, out := newTestScreen(test.terminal, 80, 24)
			s.begin("A").end("A done")
			b, c := s.begin("B"), s.begin("C")
			b.end("B done")
			c.end("C done")
			d := s.begin("D")
			if _, err := s.Write([]byte("progress\n")); err != nil {
				t.Fatal(err)
			}
			d.end("D done")
			if diff := cmp.Diff(test.want, seconds.ReplaceAllString(out.String(), "")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestDraw_Screen_FitsItsSize(t *testing.T) {
	t.Parallel()
	s, out := newTestScreen(true, 6, 5)
	s.draw([]string{"a", "1234567"})
	s.draw([]string{"a", "b", "c", "d", "e"})
	s.draw([]string{"a", "b", "c", "d"})
	s.print("note\n")
	s.draw([]string{"a"})
	want := "a\n1234567\n" + "\x1b[3A\x1b[J" + "a\nb\nc\n… and 2 more\n" + "\x1b[5A\x1b[J" + "a\nb\nc\nd\n" + "note\n" + "a\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("a table is drawn over the last one, and is no longer than the terminal (-want +got):\n%s", diff)
	}
}

func TestLine_Row_IsOneLogLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := row{namespace: "ns", name: "asvc/a", ready: "False", reason: "X"}.line(now)
	if want := "03:04:05  ns/asvc/a  READY=False  REASON=X  URL=-"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDescribeConditions_Conditions_AreSummarized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		meta: "  does not exist\n",
		strings.Replace(meta, "generation", "resourceVersion: '1', generation", 1): "  has no conditions: not reconciled yet\n",
		strings.Replace(meta, "generation", "resourceVersion: '1', generation", 1) +
			"status: {conditions: [{type: Ready, status: 'False', reason: X, message: why}, {type: Other}]}\n": "  condition Ready=False  reason X: why\n  condition Other=Unknown\n",
	} {
		if diff := cmp.Diff(want, describeConditions(object(t, text))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
