//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLogs_Options_SelectLines checks the options of kubectl logs.
func TestLogs_Options_SelectLines(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	all := n.output(t, namespace, n.duckPod("talks", "say", "5"))
	if want := "line 1\nline 2\nline 3\nline 4\nline 5\n"; all != want {
		t.Fatalf("the log is:\n%s", all)
	}
	for option, want := range map[string]string{
		"--tail=2": "line 4\nline 5\n", "--tail=0": "", "--since=1h": all, "--since-time=2020-01-01T00:00:00Z": all, "--limit-bytes=6": "line 1",
	} {
		if got := n.logs(t, namespace, "talks", option); got != want {
			t.Errorf("%s shows:\n%s", option, got)
		}
	}
	eventually(t, "the log is empty since a second ago", func(context.Context) error {
		if got := n.logs(t, namespace, "talks", "--since=1s"); got != "" {
			return fmt.Errorf("it is:\n%s", got)
		}
		return nil
	})
	for line := range strings.Lines(n.logs(t, namespace, "talks", "--timestamps")) {
		stamp, rest, _ := strings.Cut(line, " ")
		if _, err := time.Parse(time.RFC3339Nano, stamp); err != nil || !strings.HasPrefix(rest, "line ") {
			t.Errorf("a line with its time is %q: %v", line, err)
		}
	}

	n.create(t, namespace, n.serving("followed"))
	n.until(t, namespace, "followed", "ready", ready)
	cmd := exec.CommandContext(t.Context(), binary, "kubectl", "--kubeconfig", n.kubeconfig, "logs", "--follow", "--namespace", namespace, "followed")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer time.AfterFunc(waitLimit, func() { _ = cmd.Process.Kill() }).Stop()
	lines := bufio.NewReader(out)
	if first, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(first, "serving on ") {
		t.Fatalf("the first line that it follows is %q: %v", first, err)
	}
	if err := n.kube.CoreV1().Pods(namespace).Delete(t.Context(), "followed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != "received SIGTERM\n" {
		t.Errorf("what it follows ends with %q: %v", rest, err)
	}
}
