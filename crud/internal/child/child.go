/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"k8s.io/utils/lru"
)

const (
	// memory is the number of bytes that a child may allocate, and reserved is about how much a process of Go reserves that does nothing.
	memory, reserved = 128 << 20, 80 << 20
	// end bounds the time of a child that does not observe the timeout, as within a single step of a program.
	end      = 5 * time.Second
	variable = "CRUD_CHILD"
)

var (
	timeout = time.Second
	// mostOfResults is about how many bytes a program may return: those of the largest request that the API server accepts.
	mostOfResults = 3 << 20
	// confined reports whether this process serves its own requests.
	confined bool
)

func init() { //nolint:gochecknoinits // see the documentation of the package
	if os.Getenv(variable) == "" {
		quick <- nil
		common <- nil
		return
	}
	limit(memory)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false) // as programs print results
	for {
		var r request
		if in.Decode(&r) != nil || out.Encode(r.serve()) != nil { //nolint:errchkjson // the condition is the check
			os.Exit(0) // the parent has ended
		}
		var stats runtime.MemStats
		if runtime.ReadMemStats(&stats); stats.HeapInuse > memory/8 {
			debug.FreeOSMemory() // there may be no work for a while
		}
	}
}

// limit limits the memory of this process, which ends when it needs more.
func limit(bytes uint64) {
	debug.SetMemoryLimit(int64(bytes) * 3 / 4) //nolint:gosec // of a constant
	debug.SetMaxStack(int(bytes) / 4)          //nolint:gosec // of a constant
	bytes += reserved
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes}) // where the system has no such limit, those of Go remain
}

// Confine limits the memory of this process, which then executes programs and patches itself, without the other limits.
func Confine(bytes uint64) {
	limit(bytes)
	confined, timeout, mostOfResults = true, math.MaxInt64, math.MaxInt
}

type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// Two children run at a time: the channels have one each, or nil instead of one that has to be started. Programs whose last run was quick use either,
// others the common one, so that they do not delay these. Only their CPU time counts, which does not depend on other processes.
var (
	quick, common = make(chan *process, 1), make(chan *process, 1)
	known         = lru.New(1000) // quick programs
)

// called is the path by which the process was called. A main function may replace the arguments later, and change the working directory.
var called, _ = filepath.Abs(exec.Command(os.Args[0]).Path) // it fails without a working directory

// Executable returns the path of the executable. Without a /proc file system, as in Pods of the local control plane, that is the one by which the process was
// called.
func Executable() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return called
}

func start() (*process, error) {
	cmd := exec.Command(Executable()) //nolint:gosec,noctx // this program
	cmd.Env = []string{variable + "=1", "GOMAXPROCS=2"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt on a terminal is for the parent
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		return nil, fmt.Errorf("starting the process for jq programs and JSON patches: %w", err)
	}
	return &process{cmd, in, json.NewDecoder(out)}, nil
}

func (r request) do(ctx context.Context) (answer response, err error) {
	if confined {
		return r.serve(), nil
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		return answer, fmt.Errorf("encoding the input of %s: %w", r.what, err)
	}
	var p *process
	preferred, taken := quick, common
	if _, isQuick := known.Get(r.Program); !isQuick {
		preferred = nil // so that it is never ready
	}
	select {
	case p = <-preferred:
		taken = quick
	case p = <-common:
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
	defer func() {
		switch {
		case err != nil || answer.Used >= timeout/2:
			known.Remove(r.Program)
		case len(r.Input) > 0: // it has run
			known.Add(r.Program, nil)
		}
		taken <- p
	}()
	if p == nil {
		if p, err = start(); err != nil {
			return answer, err
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.in.Write(encoded)
		ended <- errors.Join(err, p.out.Decode(&answer)) //nolint:musttag // both ends are this package
	}()
	timer := time.NewTimer(end)
	defer timer.Stop()
	select {
	case err = <-ended:
		if err == nil {
			return answer, nil
		}
		ended <- err
		err = fmt.Errorf("%s needs more than %d MiB of memory", r.what, memory>>20)
	case <-timer.C:
		err = fmt.Errorf("%s ran for %v", r.what, end)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	_ = p.cmd.Process.Kill() // it may have ended
	<-ended                  //nolint:errcheck // the error of a process that was killed
	_ = p.cmd.Wait()
	p, _ = start() // before the next program needs it, which starts one itself if this fails
	return response{}, err
}
