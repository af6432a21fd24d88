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
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/time/rate"
)

const (
	// mostOfLine bounds how much of a line of a hook is logged, and mostOfOutput how much of a run.
	mostOfLine, mostOfOutput = 4096, 1 << 20
	// linesPerSecond and lineBurst bound how many lines of a run are logged.
	linesPerSecond, lineBurst = 20, 200
	// longestTail is the mark at the end of a truncated line.
	longestTail = 1024
)

// output holds what a run prints until its operations are known, which may write the values that it has.
type output struct {
	logger *zap.SugaredLogger
	limit  *rate.Limiter

	mu    sync.Mutex
	lines []outputLine
	size  int
	left  int
}

type outputLine struct {
	at           time.Time
	stream, text string
	isPart       bool
}

// read holds the lines of a stream, and reads all of it whatever it holds.
func (o *output) read(stream string, from io.Reader) {
	reader := bufio.NewReaderSize(from, mostOfLine)
	for isRest := false; ; {
		line, err := reader.ReadSlice('\n')
		isPart := errors.Is(err, bufio.ErrBufferFull)
		if text := strings.TrimRight(string(line), "\r\n"); text != "" && !isRest {
			o.hold(outputLine{time.Now(), stream, text, isPart})
		}
		if isRest = isPart; err != nil && !isPart {
			return
		}
	}
}

func (o *output) hold(line outputLine) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size+len(line.text) > mostOfOutput || !o.limit.Allow() {
		o.left++
		return
	}
	o.size += len(line.text)
	o.lines = append(o.lines, line)
}

func (o *output) log(mask func(string) string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, line := range o.lines {
		text := mask(strings.ToValidUTF8(line.text, "\uFFFD"))
		fields := []any{"stream", line.stream, "printed", line.at}
		if line.isPart {
			// The part of a value at the end of a part of a line would not be found.
			text, fields = strings.ToValidUTF8(text[:max(len(text)-longestTail, 0)], ""), append(fields, "truncated", true)
		}
		o.logger.Infow("Output of a hook", append(fields, "line", text)...)
	}
	if o.left > 0 {
		o.logger.Warnw("A hook prints too much: lines are left out", "lines", o.left)
	}
}

func (o *output) withhold(func(string) string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.lines) + o.left; n > 0 {
		o.logger.Warnw("The output of a hook is not shown, since its operations cannot be read: it may have values that they write", "lines", n)
	}
}
