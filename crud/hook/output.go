/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"go.uber.org/zap"
	"golang.org/x/time/rate"
)

const (
	// mostOfLine bounds how much of a line of a hook is logged.
	mostOfLine = 4096
	// linesPerSecond and lineBurst bound how many lines of a run are logged.
	linesPerSecond, lineBurst = 20, 200
)

// output logs what a run prints.
type output struct {
	logger *zap.SugaredLogger
	mask   func(string) string
	limit  *rate.Limiter
	left   atomic.Int64
}

func newOutput(logger *zap.SugaredLogger, mask func(string) string) *output {
	return &output{logger: logger, mask: mask, limit: rate.NewLimiter(linesPerSecond, lineBurst)}
}

// read logs the lines of a stream, and reads all of it whatever it logs.
func (o *output) read(stream string, from io.Reader) {
	reader := bufio.NewReaderSize(from, mostOfLine)
	for isRest := false; ; {
		line, err := reader.ReadSlice('\n')
		isPart := errors.Is(err, bufio.ErrBufferFull)
		if len(line) > 0 && !isRest {
			o.log(stream, line, isPart)
		}
		if isRest = isPart; err != nil && !isPart {
			return
		}
	}
}

func (o *output) log(stream string, line []byte, isPart bool) {
	text := strings.TrimRight(string(line), "\r\n")
	if text == "" {
		return
	}
	if !o.limit.Allow() {
		o.left.Add(1)
		return
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	// The part of a value at the end of a part of a line would not be found.
	text = o.mask(text)
	if isPart {
		o.logger.Infow("Output of a hook", "stream", stream, "line", strings.ToValidUTF8(text[:max(len(text)-longestTail, 0)], ""), "truncated", true)
		return
	}
	o.logger.Infow("Output of a hook", "stream", stream, "line", text)
}

// longestTail is the mark at the end of a truncated line.
const longestTail = 1024

// end logs how many lines were left out.
func (o *output) end() {
	if n := o.left.Load(); n > 0 {
		o.logger.Warnw("A hook prints too much: lines are left out", "lines", n)
	}
}
