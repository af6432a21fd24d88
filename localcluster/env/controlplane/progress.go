/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	// silence is the longest time without output during a build.
	silence = 4 * time.Second
	// batch is the number of packages per line where lines are kept.
	batch = 50
	// width is the maximum length of an overwritten line that fits on a common terminal.
	width = 79
)

// progress turns the error output of go commands into the state of a long build: the current step, its progress, and a sign of life.
type progress struct {
	out      io.Writer
	terminal bool
	// name is that of the program.
	name string

	mu         sync.Mutex
	began      time.Time
	phase      string
	packages   map[string]bool
	total      int
	compiled   int
	downloaded int
	last       string
	lastAt     time.Time
}

func newProgress(out io.Writer, name string) *progress {
	file, ok := out.(*os.File)
	return &progress{out: out, name: name, terminal: ok && term.IsTerminal(int(file.Fd()))}
}

// start shows the first phase and keeps the last line alive until the function that it returns is called, once or more.
func (p *progress) start() (stop func()) {
	p.mu.Lock()
	p.began = time.Now()
	p.show(p.name + " has to be built once for this version of its sources; an empty Go cache makes that take minutes")
	p.keep()
	p.phase = "finding out what has to be compiled"
	p.show(p.phase)
	p.mu.Unlock()
	stopped := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		ticker := time.NewTicker(silence / 4)
		defer ticker.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-ticker.C:
				p.alive()
			}
		}
	})
	return sync.OnceFunc(func() {
		close(stopped)
		ended.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
	})
}

// compiling begins the phase in which the given packages are compiled.
func (p *progress) compiling(packages map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.packages, p.total = packages, len(packages)
	if p.total == 0 {
		p.phase = "linking " + p.name
		p.show(p.phase)
		return
	}
	p.phase = fmt.Sprintf("compiling %s: %d packages", p.name, p.total)
	p.show(p.phase)
	p.keep()
}

// line takes a line of a go command's error output, and reports whether it was about progress.
func (p *progress) line(line string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if module, ok := strings.CutPrefix(line, "go: downloading "); ok {
		p.downloaded++
		p.phase = fmt.Sprintf("downloading modules [%d] %s", p.downloaded, module)
		p.showSome(p.downloaded)
		return true
	}
	if !p.packages[line] {
		// Unexpected packages are compiled all the same: the cache may have changed since the estimate.
		return isImportPath(line)
	}
	// The go command prints a package when it begins to compile it, and each once.
	delete(p.packages, line)
	p.compiled++
	p.phase = fmt.Sprintf("compiling %s [%*d/%d] %s", p.name, len(strconv.Itoa(p.total)), p.compiled, p.total, line)
	p.showSome(p.compiled)
	if p.compiled == p.total {
		p.keep()
		p.phase = "linking " + p.name
		p.show(p.phase)
	}
	return true
}

// built writes how long the build took, in a line that stays.
func (p *progress) built() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(fmt.Sprintf("%s is built, in %s", p.name, time.Since(p.began).Round(time.Second)))
	p.keep()
}

// isImportPath distinguishes the name of a package from a message: compilers' messages have blanks and colons.
func isImportPath(line string) bool { return !strings.ContainsAny(line, " :#\t") }

// alive repeats the phase with the time that has passed, if nothing has been said for too long.
func (p *progress) alive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.lastAt) >= silence || p.terminal {
		p.show(fmt.Sprintf("%s (%s)", p.phase, time.Since(p.began).Round(time.Second)))
	}
}

// showSome shows the phase: always on a terminal, else one of a batch.
func (p *progress) showSome(count int) {
	if p.terminal || count%batch == 0 || count == p.total || time.Since(p.lastAt) >= silence {
		p.show(p.phase)
	}
}

// show writes a line, which on a terminal is written over by the next one.
func (p *progress) show(line string) {
	p.last, p.lastAt = line, time.Now()
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	if len(line) > width {
		line = line[:width-1] + "…"
	}
	fmt.Fprint(p.out, "\r\x1b[K"+line)
}

// keep makes the line stay that was shown last.
func (p *progress) keep() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K"+p.last+"\n")
	}
}

// clear takes away the line that would have been written over.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
