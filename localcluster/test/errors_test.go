/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestCommand_InvalidInput_IsReported(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, taken, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		// The permissions of an ordinary folder do not stop root; those of the kernel's folders do.
		if runtime.GOOS != "linux" {
			t.Fatal("run the tests as an ordinary user")
		}
		closed = "/proc/1/task"
	}
	held, empty := sharedCluster(t), t.TempDir()

	for name, c := range map[string]struct {
		args  []string
		words []string
	}{
		"port taken":          {[]string{"up", "--port", taken}, []string{"--port " + taken, "taken", "0 for any free one"}},
		"port out of range":   {[]string{"up", "--port", "70000"}, []string{"--port 70000", "from 1 to 65535"}},
		"port not a number":   {[]string{"up", "--port", "x"}, []string{"--port", `"x"`, "--help"}},
		"folder is a file":    {[]string{"up", "--dir", file}, []string{"--dir", file, "not a folder"}},
		"folder under a file": {[]string{"up", "--dir", file + "/x"}, []string{"--dir", file + "/x", "name a folder"}},
		"folder not writable": {[]string{"up", "--dir", closed}, []string{"--dir", closed, "cannot be written", "name another folder"}},
		"folder in use":       {[]string{"up", "--dir", held.dir()}, []string{"--dir", held.dir(), fmt.Sprint("process ", held.pid()), "stop that one"}},
		"join nowhere":        {[]string{"up", "--join", empty}, []string{"--join " + empty, "no cluster runs there"}},
		"join no folder":      {[]string{"up", "--join", file}, []string{"--join", file}},
		"join with registry":  {[]string{"up", "--join", held.dir(), "--registry"}, []string{"--registry with --join"}},
		"unknown server flag": {[]string{"up", "--", "--nope"}, []string{"API server", "unknown flag: --nope"}},
		"not a server flag":   {[]string{"up", "--", "x"}, []string{"API server", `"x" is not a flag`, "--NAME=VALUE"}},
		"unknown flag":        {[]string{"up", "--nope"}, []string{"--nope", "localcluster up --help"}},
		"unknown command":     {[]string{"down"}, []string{`"down"`, "localcluster --help"}},
		"argument":            {[]string{"up", "x"}, []string{`"x"`, "only flags of kube-apiserver", "localcluster up --help"}},
		"argument of version": {[]string{"version", "x"}, []string{`"x"`, "localcluster version --help"}},
		"stored of nowhere":   {[]string{"stored", "/registry"}, []string{"--dir is missing", "localcluster stored --help"}},
		"stored of no folder": {[]string{"stored", "--dir", file, "/registry"}, []string{"--dir", file}},
		"stored of no run":    {[]string{"stored", "--dir", empty, "/registry"}, []string{"--dir " + empty, "no cluster runs there"}},
		"compact no run":      {[]string{"compact", "--dir", empty}, []string{"--dir " + empty, "no cluster runs there"}},
		"no temporary folder": {[]string{"up"}, []string{"temporary folder", "--dir", "TMPDIR"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no temporary folder" {
				t.Setenv("TMPDIR", file)
			}
			p, err := spawn(c.args...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.end)
			if code := p.wait(t); code != 1 {
				t.Errorf("exit code %d", code)
			}
			p.oneErrorLine(t, c.words...)
		})
	}
}
