/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"go.uber.org/zap"
)

// runGroup returns when no process of the group of a command runs. The error is the cause of the end of ctx, or else the exit status.
func runGroup(ctx context.Context, cmd *exec.Cmd) error {
	exit := cmd.Start()
	if exit == nil {
		exit = cmd.Wait()
		killRest(cmd.Process.Pid)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(exit, exec.ErrWaitDelay) {
		return nil // another process held the output open
	}
	return exit //nolint:wrapcheck // the exit status, or the reason for which it did not start
}

// killRest kills what the leader left behind. As the first process of a container, this process is the parent of what has lost its own.
func killRest(group int) {
	_ = syscall.Kill(-group, syscall.SIGKILL) // it fails if the group no longer exists
	for {
		_, err := syscall.Wait4(-group, nil, 0, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// mostPasses bounds the searches for processes that other ones start concurrently.
const mostPasses = 10

// killEscaped kills the processes that have a variable in their environment, also those that have left the group. It finds them where the
// system has /proc.
func killEscaped(variable string) {
	for range mostPasses {
		found := false
		processes, _ := os.ReadDir("/proc") // filepath.Glob would list the folder of each process, which takes several times as long
		for _, process := range processes {
			pid, err := strconv.Atoi(process.Name())
			content, failed := os.ReadFile(filepath.Join("/proc", process.Name(), "environ"))
			if err == nil && failed == nil && pid != os.Getpid() && bytes.Contains(content, []byte(variable+"\x00")) {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
				_, _ = syscall.Wait4(pid, nil, 0, nil) // it fails for a process that is no child
			}
		}
		if !found {
			return
		}
	}
}

const runFolder = "hook-run-"

// marker is the environment variable by which the processes of a run are found.
func marker(folder string) string {
	return contextVariable + "=" + filepath.Join(folder, files[contextVariable])
}

func lock(folder string) (*os.File, error) {
	file, err := os.Open(folder) //nolint:gosec // of the process
	if err != nil {
		return nil, fmt.Errorf("opening the folder of a run: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("locking the folder of a run: %w", err), file.Close())
	}
	return file, nil
}

// removeAbandoned kills the programs of runs whose process was killed, and removes their folders.
func removeAbandoned(folder string) (err error) {
	runs, _ := filepath.Glob(filepath.Join(cmp.Or(folder, os.TempDir()), runFolder+"[0-9]*")) // it fails for a wrong pattern only
	for _, run := range runs {
		locked, failure := lock(run)
		if failure != nil {
			continue // its process runs
		}
		killEscaped(marker(run))
		err = errors.Join(err, removeAll(run), locked.Close())
	}
	return err
}

// removeAll removes a folder, also if the hook took permissions of folders in it away.
func removeAll(folder string) error {
	// What fails is reported by the removal.
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // it is a folder
		}
		return nil
	})
	return os.RemoveAll(folder) //nolint:wrapcheck // it names the path
}

const (
	// mostOfOutput bounds how much of the output of a program is kept, mostLines how many lines of it are logged, and mostOfLine how much of each.
	mostOfOutput, mostLines, mostOfLine = 1 << 20, 1000, 4096
	// longestTail is left out at the end of output that is truncated: the part of a value there would not be masked.
	longestTail = 1024
)

// output keeps what a program prints first. That of a hook is held until its operations are known, which may write the values that it has.
type output struct {
	kept    []byte
	dropped int // bytes
}

func (o *output) Write(p []byte) (int, error) {
	n := min(len(p), mostOfOutput-len(o.kept))
	o.kept, o.dropped = append(o.kept, p[:n]...), o.dropped+len(p)-n
	return len(p), nil
}

func (o *output) log(logger *zap.SugaredLogger, mask func(string) string) {
	text, n := string(o.kept), 0
	if o.dropped > 0 {
		text = text[:len(text)-longestTail]
	}
	for line := range strings.Lines(mask(strings.ToValidUTF8(text, "\uFFFD"))) {
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		if n++; n <= mostLines {
			logger.Infow("Output of a hook", "line", line[:min(len(line), mostOfLine)])
		}
	}
	if n > mostLines || o.dropped > 0 {
		logger.Warnw("A hook prints too much: what follows is left out", "lines", max(n-mostLines, 0), "bytes", o.dropped)
	}
}
