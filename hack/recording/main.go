/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The recording program records `make run` on a pseudoterminal, until all samples are Ready, and writes an animated SVG of it:
// docs/images/make-run.svg. Make recording runs it. TestMakeRun_OnATerminal_ShowsTheRecordingUntilInterrupted of test/run compares the recording with
// another run.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/mallard-dev/mallard/hack/recording/animation"
	"github.com/mallard-dev/mallard/hack/recording/terminal"
)

const (
	image = "docs/images/make-run.svg"
	// columns is the width of the terminal: no line breaks.
	columns, rows = 250, 60
	// settled is for how long the screen has to stay as it is, with all objects Ready.
	settled = 3 * time.Second
	timeout = 10 * time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	err := run(ctx)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	frames, err := record(ctx)
	if err != nil {
		return err
	}
	svg := animation.Render("Recording of make run: it starts a control plane, the operator and the samples, which become Ready", frames)
	if err := os.MkdirAll(filepath.Dir(image), 0o750); err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	if err := os.WriteFile(image, []byte(svg), 0o600); err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	fmt.Printf("%s: %d screens, %d bytes\n", image, len(frames), len(svg))
	return nil
}

// record returns the screens of `make run` with their times, behind the command as a user types it.
func record(ctx context.Context) ([]animation.Frame, error) {
	command := exec.CommandContext(ctx, "make", "--no-print-directory", "run")
	command.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	began := time.Now()
	user, err := pty.StartWithSize(command, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return nil, fmt.Errorf("starting make run: %w", err)
	}
	defer user.Close() //nolint:errcheck // a terminal loses nothing
	output := make(chan []byte)
	go read(user, output)
	frames, err := follow(output, began)
	// A user types Ctrl-C.
	_, typing := user.WriteString("\x03")
	for range output {
		// The end of make run is not recorded.
	}
	return frames, errors.Join(err, typing, command.Wait())
}

// read sends what the program prints, until the last process has closed the terminal.
func read(user *os.File, output chan<- []byte) {
	defer close(output)
	for {
		buffer := make([]byte, 1<<16)
		n, err := user.Read(buffer)
		if n > 0 {
			output <- buffer[:n]
		}
		if err != nil {
			return
		}
	}
}

// follow returns the screens until all objects are Ready, and none has changed for a while.
func follow(output <-chan []byte, began time.Time) ([]animation.Frame, error) {
	const prompt = "$ make run"
	var screen terminal.Screen
	frames := []animation.Frame{{Lines: []string{prompt}}}
	quiet := time.NewTimer(settled)
	for {
		select {
		case part, ok := <-output:
			if !ok {
				return nil, fmt.Errorf("make run has ended:\n%s", strings.Join(screen.Lines(), "\n"))
			}
			if _, err := screen.Write(part); err != nil {
				return nil, fmt.Errorf("reading the screen: %w", err)
			}
			lines := []string{prompt}
			for _, line := range screen.Lines() {
				lines = append(lines, animation.Shorten(line))
			}
			frames = append(frames, animation.Frame{At: time.Since(began), Lines: lines})
			quiet.Reset(settled)
		case <-quiet.C:
			if allReady(frames[len(frames)-1].Lines) {
				return frames, nil
			}
			quiet.Reset(settled)
		}
	}
}

// allReady reports whether the screen shows a table in which every object is Ready.
func allReady(lines []string) bool {
	isTable, objects := false, 0
	for _, line := range lines {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 2 && fields[0] == "NAMESPACE":
			isTable = true
		case isTable && (len(fields) < 3 || fields[2] != "True"):
			return false
		case isTable:
			objects++
		}
	}
	return objects > 0
}
