/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
)

// Reporter receives the last words of components.
type Reporter struct {
	logPath string
	fatal   chan error
	stuck   chan struct{}
	once    sync.Once
}

// NewReporter makes a reporter. logPath is the file that klog writes to: its fatal messages are read back from there.
func NewReporter(logPath string) *Reporter {
	return &Reporter{logPath: logPath, fatal: make(chan error, 1), stuck: make(chan struct{})}
}

// Fatal delivers the first cause for which a component wanted to end the process.
func (r *Reporter) Fatal() <-chan error { return r.fatal }

// Stuck is closed when a component wanted to end the process. Its goroutine blocks from then on, with the locks that it holds, so that callers should
// not wait long for that component any more.
func (r *Reporter) Stuck() <-chan struct{} { return r.stuck }

// HookKlog diverts klog's Fatal and Exit functions to the reporter. It is called once, before any component starts.
func (r *Reporter) HookKlog() {
	klog.OsExit = func(code int) {
		klog.Flush()
		cause := lastFatalLine(r.logPath)
		if cause == "" {
			cause = fmt.Sprintf("a component ended with code %d", code)
		}
		r.report(errors.New(cause))
	}
}

// ZapHook diverts zap's fatal level to the reporter; it is given to zap.WithFatalHook.
func (r *Reporter) ZapHook(component string) zapcore.CheckWriteHook {
	return zapHook{reporter: r, component: component}
}

// report hands over the cause and never returns, because the callers' callers rely on that.
func (r *Reporter) report(cause error) {
	r.note(cause)
	select {}
}

// note keeps the first cause. What comes after it usually follows from it.
func (r *Reporter) note(cause error) {
	r.once.Do(func() {
		r.fatal <- cause
		close(r.stuck)
	})
}

type zapHook struct {
	reporter  *Reporter
	component string
}

// OnWrite is called after the fatal entry has been written to the log.
func (h zapHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	cause := fmt.Errorf("%s: %s", h.component, entry.Message)
	for _, f := range fields {
		if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			cause = fmt.Errorf("%w: %w", cause, err)
		}
	}
	h.reporter.report(cause)
}

// klogFatal matches the header that klog gives to messages of its fatal level, and takes the message from behind it.
var klogFatal = regexp.MustCompile(`(?m)^F\d{4} [^\]]*\] (.*)$`)

// tailSize is the size of the end of the log that is searched: klog writes the traces of all goroutines elsewhere, so that the
// fatal message is among the last lines.
const tailSize = 64 << 10

func lastFatalLine(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > tailSize {
		if _, err := file.Seek(-tailSize, io.SeekEnd); err != nil {
			return ""
		}
	}
	tail, err := io.ReadAll(file)
	if err != nil {
		return ""
	}
	matches := klogFatal.FindAllSubmatch(tail, -1)
	if len(matches) == 0 {
		return ""
	}
	return strings.TrimSpace(string(bytes.ToValidUTF8(matches[len(matches)-1][1], nil)))
}
