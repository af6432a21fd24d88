/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package container

import (
	"errors"
	"os"
	"time"
)

// ErrUnsupported reports that processes are run on Linux only.
var ErrUnsupported = errors.New("processes are run on Linux only")

// Spec defines the process to run. Paths in it are those that the process sees, if it has a separate root.
type Spec struct {
	// Root is the folder that becomes the process's root, or in which it is run.
	Root string
	// Path is the program, Args all arguments including the first, Env the environment as NAME=value.
	Path string
	Args []string
	Env  []string
	// Dir is its working directory.
	Dir string
	// UID, GID and Groups are its identity, if it has a separate root.
	UID, GID uint32
	Groups   []uint32
	// Stdin may be nil. Stdout and Stderr are closed by who opened them.
	Stdin, Stdout, Stderr *os.File
}

// Mount is a folder or file that is seen at a path of a root folder.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Process is a process that was started.
type Process struct {
	// Started is the time of the start.
	Started time.Time

	pid      int
	done     chan struct{}
	code     int
	finished time.Time
}

// Done is closed when the process has ended, and its children with it.
func (p *Process) Done() <-chan struct{} { return p.done }

// Result returns, once Done is closed, the exit code, which is 128 and the number of the signal that ended the process, and the time of its end.
func (p *Process) Result() (code int, finished time.Time) {
	return p.code, p.finished
}
