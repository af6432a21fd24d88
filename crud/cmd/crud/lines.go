/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// Without a terminal, a line reports how far a plan is after reportFirst, and then every reportEvery.
const (
	reportFirst = time.Second
	reportEvery = 10 * time.Second
)

// lines prints one line per operation, and on standard error how far the plan is, its preflight included: on a terminal as a bar.
type lines struct {
	*program
	file    namedFile
	quiet   bool
	changes []crud.Change // whose diffs are printed
	ended   int           // how many operations have ended

	mu    sync.Mutex
	shown string // how far the plan is
}

const (
	eraseLine = "\r\x1b[K"
	executing = "executing" // an operation, after checking it
)

func (l *lines) report(ctx context.Context) {
	delay := reportFirst
	for !l.terminal {
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
			l.mu.Lock()
			fmt.Fprintf(l.errs, "crud: %s: %s\n", l.file.name, l.shown)
			l.mu.Unlock()
		}
		delay = reportEvery
	}
}

// show shows that n operations are done with, and which one is next.
func (l *lines) show(doing string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := len(l.file.Operations)
	if n == total {
		return
	}
	l.shown = fmt.Sprintf("%s operation %d of %d: %s", doing, n+1, total, l.file.Operations[n].Type)
	if l.terminal {
		const width = 20
		bar := strings.Repeat("=", n*width/total)
		fmt.Fprintf(l.errs, "%s[%-*s] %s", eraseLine, width, bar, l.shown)
	}
}

func (l *lines) checked(number int) {
	l.show("checking", number)
	if number == len(l.file.Operations) {
		l.show(executing, 0)
	}
}

func (l *lines) erase() {
	if l.terminal {
		fmt.Fprint(l.errs, eraseLine)
	}
}

func (l *lines) done(number int, result crud.Result, _ error) {
	l.erase()
	l.ended = number
	file := operations.File{Plan: crud.Plan{Operations: l.file.Operations[number-1 : number]}}
	l.print(number, file.Report([]crud.Result{result}, nil).Operations[0])
	l.show(executing, number)
}

func (l *lines) print(number int, report operations.OperationReport) {
	if l.quiet {
		return
	}
	outcome := string(report.Outcome)
	if l.file.DryRun && report.Outcome == crud.NotRun {
		outcome = "deferred, since it depends on an operation before"
	}
	line := fmt.Sprintf("operation %d: %s %s: %s", number, report.Type, report.Ref, outcome)
	if report.Outcome == crud.Deleting && len(report.Finalizers) > 0 {
		line += ", it waits for the finalizers " + strings.Join(report.Finalizers, ", ")
	}
	fmt.Fprintln(l.out, line)
}

// end prints the operations that were not executed, their changes, warnings and errors.
func (l *lines) end(report operations.Report) error {
	l.erase()
	for i, of := range report.Operations {
		if i >= l.ended {
			l.print(i+1, of)
		}
		if i < len(l.changes) && !l.quiet {
			diff, err := l.changes[i].Diff()
			if err != nil {
				return fmt.Errorf("operation %d: %w", i+1, err)
			}
			fmt.Fprint(l.out, diff)
		}
	}
	for i, of := range report.Operations {
		for _, warning := range of.Warnings {
			fmt.Fprintf(l.errs, "crud: %s: operation %d: warning: %s\n", l.file.name, i+1, warning)
		}
		if of.Error != "" {
			fmt.Fprintf(l.errs, "crud: %s: operation %d: %s\n", l.file.name, i+1, of.Error)
		}
	}
	if report.Error != "" {
		fmt.Fprintf(l.errs, "crud: %s: %s\n", l.file.name, report.Error)
	}
	return nil
}
