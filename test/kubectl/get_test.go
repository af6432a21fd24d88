/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// table reads what kubectl get prints: the rows by the headings of their columns.
func table(t *testing.T, out string) (headings []string, rows []map[string]string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	headings = strings.Fields(lines[0])
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, heading := range headings {
			// A column may be empty, so what counts is where it begins.
			from, to := strings.Index(lines[0], heading), len(line)
			if i+1 < len(headings) {
				to = min(to, strings.Index(lines[0], headings[i+1]))
			}
			row[heading] = strings.TrimSpace(line[min(from, to):to])
		}
		rows = append(rows, row)
	}
	return headings, rows
}

func TestGet_Columns_ShowReadyReasonURLAndAge(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, subject)
	u.apply(t, strings.NewReplacer("subject", "waiting", "name: target", "name: missing").Replace(subject))
	u.ready(t)
	waiting := u.ref()
	waiting.Name = "waiting"
	u.env.Await(t, waiting, harness.HasCondition("Ready", "False", "TargetNotFound"))

	for _, args := range [][]string{
		{"get", "asvc"},
		{"get", "addressableservice"},
		{"get", "addressableservices"},
		{"get", "addressableservices.samples.knative.dev"},
		{"get", "knative"},
	} {
		headings, rows := table(t, u.run(t, args...))
		if want := []string{"NAME", "READY", "REASON", "URL", "AGE"}; !cmp.Equal(headings, want) {
			t.Errorf("kubectl %q: got columns %q, want %q", args, headings, want)
			continue
		}
		for _, row := range rows {
			if !strings.HasSuffix(row["AGE"], "s") {
				t.Errorf("kubectl %q: got age %q, want some seconds", args, row["AGE"])
			}
			delete(row, "AGE")
			row["NAME"] = strings.TrimPrefix(row["NAME"], "addressableservice.samples.knative.dev/")
		}
		want := []map[string]string{
			{"NAME": "subject", "READY": "True", "REASON": "", "URL": "http://target." + u.namespace + ".svc.cluster.local/old"},
			{"NAME": "waiting", "READY": "False", "REASON": "TargetNotFound", "URL": ""},
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("kubectl %q (-want, +got):\n%s", args, diff)
		}
	}
}

func TestGetWide_ShowsTargetAndClass(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, subject)
	u.ready(t)
	headings, rows := table(t, u.run(t, "get", "asvc", "-o", "wide"))
	if want := []string{"NAME", "READY", "REASON", "URL", "TARGET", "CLASS", "AGE"}; !cmp.Equal(headings, want) {
		t.Fatalf("got columns %q, want %q", headings, want)
	}
	if len(rows) != 1 || rows[0]["TARGET"] != "target" || rows[0]["CLASS"] != "mallard" {
		t.Errorf("got %q, want one row with target and class", rows)
	}
}

func TestGetAll_Kinds_AreListed(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, subject)
	for _, category := range []string{"all", "knative"} {
		got := strings.Fields(u.run(t, "get", category, "-o", "name"))
		want := []string{"addressableservice.samples.knative.dev/subject"}
		if category == "all" {
			want = append([]string{"service/target"}, want...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kubectl get %s (-want, +got):\n%s", category, diff)
		}
	}
}

func TestDescribe_Object_ShowsConditionsAndEvents(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, strings.Replace(subject, "name: target", "name: missing", 1))
	u.env.Await(t, u.ref(), harness.HasCondition("Ready", "False", "TargetNotFound"))
	// The event is sent after the status.
	harness.Eventually(t, "the event is listed", func(context.Context) error {
		out := u.run(t, "describe", "asvc", "subject")
		for _, want := range []string{"Conditions:", "TargetResolved", "Published", "Ready", "Events:", "Warning  TargetNotFound"} {
			if !strings.Contains(out, want) {
				return fmt.Errorf("%q is not in:\n%s", want, out)
			}
		}
		return nil
	})
	if out := u.run(t, "events", "--for", "asvc/subject"); !strings.Contains(out, "TargetNotFound") {
		t.Errorf("kubectl events: got\n%s\nwant the event", out)
	}
}

func TestWait_Ready_ReturnsOnceReady(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, strings.Replace(subject, "name: target", "name: later", 1))
	u.run(t, "wait", "--for=condition=Ready=False", "asvc/subject", "--timeout=30s")
	_, err := u.input(t, "", "wait", "--for=condition=Ready", "asvc/subject", "--timeout=1ms")
	checkSays(t, err, "timed out waiting for the condition on addressableservices/subject")

	waited := make(chan error, 1)
	go func() {
		_, err := u.input(t, "", "wait", "--for=condition=Ready", "asvc/subject", "--timeout=30s")
		waited <- err
	}()
	u.env.Apply(t, u.namespace, strings.Replace(fixtures.Target, "name: target", "name: later", 1))
	if err := <-waited; err != nil {
		t.Error(err)
	}
	u.run(t, "wait", "--for=jsonpath={.status.address.url}=http://later."+u.namespace+".svc.cluster.local/old", "asvc/subject", "--timeout=30s")
}
