/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestWriter_MoreThanTheLimit_KeepsTheNewest writes more than is kept, and checks how much is kept and that it is the newest.
func TestWriter_MoreThanTheLimit_KeepsTheNewest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	w, err := NewWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := w.Stream("stdout")
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 1000)
	for i := range 3 * maxSize / len(line) {
		fmt.Fprintf(stream, "%s %d\n", line, i)
	}
	fmt.Fprintln(stream, "the last")
	w.Close()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 2 {
		t.Fatalf("there are %v (%v)", files, err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Size() > maxSize {
			t.Errorf("%s has %d bytes (%v)", file.Name(), info.Size(), err)
		}
	}
	one := int64(1)
	if got := readLog(t, path, &corev1.PodLogOptions{TailLines: &one}); got != "the last\n" {
		t.Errorf("the last line is %q", got)
	}
}

// TestWriter_LongLines_AreReadAsOne checks that a line which is kept in parts is read as one, and that streams can be told apart.
func TestWriter_LongLines_AreReadAsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	w, err := NewWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 3*maxLine+1) + "\n"
	for name, text := range map[string]string{"stdout": long, "stderr": "without an end"} {
		stream, err := w.Stream(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	stdout, stderr := corev1.LogStreamStdout, corev1.LogStreamStderr
	if got := readLog(t, path, &corev1.PodLogOptions{Stream: &stdout}); got != long {
		t.Errorf("the long line has %d bytes instead of %d", len(got), len(long))
	}
	if got := readLog(t, path, &corev1.PodLogOptions{Stream: &stderr}); strings.TrimSpace(got) != "without an end" {
		t.Errorf("the other stream has %q", got)
	}
}

func readLog(t *testing.T, path string, options *corev1.PodLogOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := Read(t.Context(), path, options, func() bool { return false }, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
