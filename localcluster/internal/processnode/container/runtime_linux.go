/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package container

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// signaled is added to a signal's number to make an exit code, as shells do.
const signaled = 128

// whileBusy is for a program whose file was just written: while another process is being started, its copy of the
// descriptor keeps the file busy for a moment.
var whileBusy = wait.Backoff{Steps: 50, Duration: 10 * time.Millisecond, Factor: 1}

func isBusy(err error) bool { return errors.Is(err, syscall.ETXTBSY) }

// Runtime starts processes. All of them are started by one thread that lives as long as the program: the kernel sends a child its parent-death signal
// when the thread ends that started it, not the program. The thread also has a separate mount namespace, so that no mount is seen by others or is
// left behind.
type Runtime struct {
	work             chan func()
	isolated, owners bool
}

// NewRuntime makes a runtime.
func NewRuntime() (*Runtime, error) {
	r := &Runtime{work: make(chan func())}
	ready := make(chan bool)
	go func() {
		// Never unlocked: the thread ends with the program.
		runtime.LockOSThread()
		ready <- isolate() == nil
		for do := range r.work {
			do()
		}
	}()
	r.isolated = <-ready
	r.owners = r.isolated && manyUsers()
	return r, nil
}

// Isolated reports whether processes have separate roots; if not, they are run in their folder.
func (r *Runtime) Isolated() bool { return r.isolated }

// Owners reports whether processes and files can belong to any user; if not, all belong to the user of the program.
func (r *Runtime) Owners() bool { return r.owners }

// isolate prepares the calling thread. Without the permission, nothing has changed.
func isolate() error {
	if os.Geteuid() != 0 {
		return os.ErrPermission
	}
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("making a mount table: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	return restrict()
}

// manyUsers reports whether a process can have another user than root: in a user namespace of an ordinary user it cannot.
func manyUsers() bool {
	data, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	var inside, outside, count uint64
	_, err = fmt.Sscan(string(data), &inside, &outside, &count)
	return err == nil && inside == 0 && count > math.MaxUint16
}

// keptCapabilities are those that containers have by default.
var keptCapabilities = map[uintptr]bool{
	unix.CAP_CHOWN: true, unix.CAP_DAC_OVERRIDE: true, unix.CAP_FOWNER: true, unix.CAP_FSETID: true, unix.CAP_KILL: true,
	unix.CAP_SETGID: true, unix.CAP_SETUID: true, unix.CAP_SETPCAP: true, unix.CAP_NET_BIND_SERVICE: true,
	unix.CAP_NET_RAW: true, unix.CAP_SYS_CHROOT: true, unix.CAP_AUDIT_WRITE: true, unix.CAP_SETFCAP: true,
}

// restrict drops from the thread, and so from its children, all privileges that containers do not have, permanently. The
// thread keeps its own.
func restrict() error {
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		if keptCapabilities[capability] {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("dropping a capability: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	return nil
}

// on runs a function on the runtime's thread.
func (r *Runtime) on(do func() error) error {
	result := make(chan error, 1)
	r.work <- func() { result <- do() }
	return <-result
}

func (r *Runtime) command(spec Spec) *exec.Cmd {
	cmd := &exec.Cmd{
		Path: spec.Path, Args: spec.Args, Env: spec.Env, Dir: spec.Dir, Stdout: spec.Stdout, Stderr: spec.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true},
	}
	if spec.Stdin != nil {
		cmd.Stdin = spec.Stdin
	}
	if r.isolated {
		cmd.SysProcAttr.Chroot = spec.Root
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID
	}
	if r.owners {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: spec.UID, Gid: spec.GID, Groups: spec.Groups}
	}
	return cmd
}

// Start starts a process. Errors name the program as a cluster's runtime does.
func (r *Runtime) Start(spec Spec) (*Process, error) {
	var cmd *exec.Cmd
	err := r.on(func() error {
		return retry.OnError(whileBusy, isBusy, func() error {
			cmd = r.command(spec)
			return cmd.Start()
		})
	})
	if err != nil {
		return nil, fmt.Errorf("unable to start container process: exec: %q: %w", spec.Path, reason(err))
	}
	p := &Process{Started: time.Now(), pid: cmd.Process.Pid, done: make(chan struct{})}
	go p.wait(cmd)
	return p, nil
}

// reason takes the operation and the path off an error, for a message that names the program already.
func reason(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

func (p *Process) wait(cmd *exec.Cmd) {
	// How it ended is in the state.
	_ = cmd.Wait()
	// With a separate PID namespace its children have already exited.
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.finished = time.Now()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.code = signaled + int(status.Signal())
	} else {
		p.code = cmd.ProcessState.ExitCode()
	}
	close(p.done)
}

// Signal sends a signal to the process.
func (p *Process) Signal(signal syscall.Signal) {
	select {
	case <-p.done:
	default:
		// It may have ended in this moment.
		_ = syscall.Kill(p.pid, signal)
	}
}

// Kill ends the process and its children at once.
func (p *Process) Kill() {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}
