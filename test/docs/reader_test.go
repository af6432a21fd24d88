//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// startGrace is the time that a program in the background has to start and to exit.
const startGrace = 10 * time.Minute

// reader follows a page in a folder outside of this checkout, block for block:
//
//	sh, console    are run, and cd stays in effect; a block with the word fails must fail
//	background     starts make run, as in another terminal, after Ctrl-C for the previous one; later commands use the KUBECONFIG and the kubectl
//	               that it prints
//	writes=PATH    becomes that file
//	edits=PATH     is a diff of that file, without line numbers: hunks begin with @@, and the lines that they replace are in the file exactly once
//	file=PATH      is part of that file of the example, which then becomes that file
type reader struct {
	dir         string
	environment []string
	// example is the folder that blocks with file= quote.
	example string
	// commands and lines are the numbers of commands and lines that the reader has typed.
	commands, lines int
	// stop ends what runs in the background.
	stop func()
}

// follow does all blocks of a page that name the test.
func (r *reader) follow(t *testing.T, page, test string) {
	t.Helper()
	for _, b := range blocks(t, page) {
		if b.attributes["shown-by"] != test {
			continue
		}
		_, background := b.attributes["background"]
		switch {
		case background:
			r.start(t, b)
		case b.attributes["writes"] != "":
			r.lines += strings.Count(b.text, "\n")
			r.write(t, b.attributes["writes"], b.text)
		case b.attributes["edits"] != "":
			r.edit(t, b)
		case b.attributes["file"] != "" && r.example != "":
			content := read(t, filepath.Join(r.example, b.attributes["file"]))
			if !strings.Contains(content, b.text) {
				t.Fatalf("%s: %s of %s does not contain the block", b, b.attributes["file"], r.example)
			}
			r.write(t, b.attributes["file"], content)
		case b.kind == "sh", b.kind == "console":
			r.execute(t, b)
		default:
			t.Fatalf("%s: unknown kind of block; see type reader", b)
		}
	}
}

// execute runs the commands of a block, and compares their output with that of a console.
func (r *reader) execute(t *testing.T, b block) {
	t.Helper()
	_, fails := b.attributes["fails"]
	if b.kind == "sh" {
		r.commands += strings.Count(b.text, "\n")
		r.run(t, b, b.text, false)
		return
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(b.text, "$ "), "\n$ ") {
		r.commands++
		command, want, _ := strings.Cut(part, "\n")
		if got := r.run(t, b, command, fails); !shows(want, got) {
			t.Fatalf("%s: %s\nprints:\n%s\nthe document shows:\n%s", b, command, got, want)
		}
	}
}

// run runs a script in the folder in which the previous one ended, and returns its output.
func (r *reader) run(t *testing.T, b block, script string, fails bool) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "at")
	out := shell{dir: r.dir, env: r.env()}.run(t, "trap 'pwd >"+at+"' EXIT\n"+script, fails)
	dir, err := os.ReadFile(at)
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	r.dir = strings.TrimSpace(string(dir))
	return out
}

func (r *reader) env() []string {
	// A reader does not share the control plane of the tests.
	return append(append(os.Environ(), "LOCALCLUSTER_KUBECONFIG="), r.environment...)
}

func (r *reader) write(t *testing.T, path, content string) {
	t.Helper()
	path = filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// edit replaces the lines of each hunk that begin with a space or a minus by those that begin with a space or a plus.
func (r *reader) edit(t *testing.T, b block) {
	t.Helper()
	path := filepath.Join(r.dir, b.attributes["edits"])
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	for hunk := range strings.SplitSeq(strings.TrimPrefix(b.text, "@@\n"), "\n@@\n") {
		var before, after strings.Builder
		for line := range strings.SplitSeq(strings.TrimSuffix(hunk, "\n"), "\n") {
			sign, text := " ", ""
			if line != "" {
				sign, text = line[:1], line[1:]
			}
			if sign != "+" {
				before.WriteString(text + "\n")
			}
			if sign != "-" {
				after.WriteString(text + "\n")
			}
			if sign == "+" {
				r.lines++
			}
		}
		if n := bytes.Count(content, []byte(before.String())); n != 1 {
			t.Fatalf("%s: %s contains these lines %d times, want 1:\n%s\nit is:\n%s", b, path, n, before.String(), content)
		}
		content = bytes.Replace(content, []byte(before.String()), []byte(after.String()), 1)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// printed finds what make run prints for a second terminal: its KUBECONFIG and its kubectl.
var printed = regexp.MustCompile(`export KUBECONFIG=(\S+)\n(?:.*\n)*?  alias kubectl='([^']+)'`)

// start runs a command in the background until the next one or the end of the test, and sets the variables that it prints.
func (r *reader) start(t *testing.T, b block) {
	t.Helper()
	if r.stop != nil {
		r.stop()
	}
	r.commands++
	command := exec.Command("bash", "-c", b.text)
	command.Dir, command.Env, command.WaitDelay = r.dir, r.env(), time.Second
	out := &output{}
	command.Stdout, command.Stderr = out, out
	group, err := procgroup.Start(command)
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	r.stop = sync.OnceFunc(func() {
		_ = group.Signal(syscall.SIGINT)
		select {
		case <-group.Done():
		case <-time.After(startGrace):
			t.Errorf("%s: does not end after Ctrl-C:\n%s", b, out)
		}
	})
	t.Cleanup(r.stop)
	deadline, tick := time.After(startGrace), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for {
		if match := printed.FindStringSubmatch(out.String()); match != nil {
			bin := t.TempDir()
			kubectl := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", match[2])
			if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte(kubectl), 0o700); err != nil {
				t.Fatal(err)
			}
			r.environment = append(slices.Clone(r.environment), "KUBECONFIG="+match[1], "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			return
		}
		select {
		case <-group.Done():
			t.Fatalf("%s: has ended: %v\n%s", b, group.Err(), out)
		case <-deadline:
			t.Fatalf("%s: prints no KUBECONFIG within %v:\n%s", b, startGrace, out)
		case <-tick.C:
		}
	}
}

// output collects what a program prints while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// shows reports whether a document shows an output. The width of columns does not
// count, and an ellipsis stands for anything in one line.
func shows(document, output string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(squeeze(document)), "…", `[^\n]*`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(squeeze(output))
}
