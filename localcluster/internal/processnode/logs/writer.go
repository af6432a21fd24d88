/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// maxSize is the size at which a log is rotated, in bytes. One old file is kept, so a container has twice as much.
	maxSize = 10 << 20
	// maxLine is the length at which a long line is split, in bytes, as runtimes do.
	maxLine = 16 << 10
	// drain is the time for which the rest of the output is awaited after the process has ended: something it left may hold the pipe.
	drain = time.Second

	oldSuffix = ".old"
)

// Writer writes the output of one execution of a container to a file.
type Writer struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64

	ends    []*os.File
	readers sync.WaitGroup
	reads   []*os.File
}

// NewWriter makes the file.
func NewWriter(path string) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	w := &Writer{path: path, file: file}
	if info, err := file.Stat(); err == nil {
		w.size = info.Size()
	}
	return w, nil
}

// Path is the file, for Read.
func (w *Writer) Path() string { return w.path }

// Stream returns the end of a pipe for a process to write to, which is recorded as the named stream.
func (w *Writer) Stream(name string) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe for the log: %w", err)
	}
	w.ends = append(w.ends, write)
	w.reads = append(w.reads, read)
	w.readers.Go(func() {
		w.record(name, read)
		_ = read.Close()
	})
	return write, nil
}

// Started closes the ends of the pipes that the process has its own copies of.
func (w *Writer) Started() {
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

// Close is called when the process has ended, and returns when all that it wrote is in the file.
func (w *Writer) Close() {
	w.Started()
	for _, read := range w.reads {
		// Where it is not supported nothing is lost but the bound.
		_ = read.SetReadDeadline(time.Now().Add(drain))
	}
	w.readers.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.file.Close()
}

func (w *Writer) record(name string, from io.Reader) {
	lines := bufio.NewReaderSize(from, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		tag := "F"
		if errors.Is(err, bufio.ErrBufferFull) {
			tag, err = "P", nil
		}
		if len(line) > 0 {
			if line[len(line)-1] == '\n' {
				line = line[:len(line)-1]
			}
			w.write(fmt.Appendf(nil, "%s %s %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), name, tag, line))
		}
		if err != nil {
			return
		}
	}
}

// write adds to the file. Data that a full disk does not take is lost: the process must not block because of its log.
func (w *Writer) write(entry []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.size+int64(len(entry)) > maxSize {
		w.rotate()
	}
	n, _ := w.file.Write(entry)
	w.size += int64(n)
}

func (w *Writer) rotate() {
	if os.Rename(w.path, w.path+oldSuffix) != nil {
		return
	}
	file, err := os.OpenFile(w.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_ = w.file.Close()
	w.file, w.size = file, 0
}
