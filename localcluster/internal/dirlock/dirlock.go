/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dirlock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// FileName is the name of the lock file within the locked folder.
const FileName = "lock"

// HeldError reports that another process holds the lock of a folder.
type HeldError struct {
	Dir string
	// PID is the holder's process id as it stands in the file; 0 when it is not (yet) written there.
	PID int
}

// Error names the folder and the holder.
func (e *HeldError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s is in use by a cluster that runs as %s", e.Dir, holder)
}

// Lock is a folder's lock while it is held.
type Lock struct {
	file *os.File
	// Stale reports whether the file of an earlier holder was found, which ended without releasing it.
	Stale bool
}

// Acquire takes the lock of a folder without waiting. A *HeldError means that another process has it.
func Acquire(dir string) (*Lock, error) {
	path := filepath.Join(dir, FileName)
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, fmt.Errorf("opening the lock file: %w", err)
		}
		if err := flock(file); err != nil {
			pid := readPID(file)
			_ = file.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, &HeldError{Dir: dir, PID: pid}
			}
			return nil, err
		}
		// The holder before us removes the file while it still has the lock: what we locked may be gone from the folder.
		if !isCurrent(file, path) {
			_ = file.Close()
			continue
		}
		lock := &Lock{file: file, Stale: readPID(file) != 0}
		if err := lock.writePID(); err != nil {
			lock.Release()
			return nil, err
		}
		return lock, nil
	}
}

// Release removes the file and gives the lock back. Errors are not reported: the kernel ends the lock with the process,
// and a file that stays is recognized as stale by the next holder.
func (l *Lock) Release() {
	_ = os.Remove(l.file.Name())
	_ = l.file.Close()
}

func (l *Lock) writePID() error {
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("writing the process id: %w", err)
	}
	if _, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("writing the process id: %w", err)
	}
	return nil
}

func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("locking %s: %w", file.Name(), err)
		}
	}
}

func isCurrent(file *os.File, path string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(path)
	return err == nil && os.SameFile(held, found)
}

func readPID(file *os.File) int {
	buf := make([]byte, 32)
	n, _ := file.ReadAt(buf, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}
