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

// Without a terminal, a line reports how far a plan is after reportFirst, since more than fewOperations take their time, and then every
// reportEvery.
const (
	fewOperations = 10
	reportFirst   = time.Second
	reportEvery   = 10 * time.Second
)

// lines prints one line per operation, and on standard error how far the plan is, its preflight included: on a terminal as a bar.
type lines struct {
	*program
	file  namedFile
	quiet bool
	ended int // how many operations have ended

	mu    sync.Mutex
	shown string // how far the plan is
}

// eraseLine returns to the beginning of a terminal's line and empties it.
const eraseLine = "\r\x1b[K"

// What apply does with an operation.
const (
	checking  = "checking"
	executing = "executing"
)

// report prints how far the plan is, until the context ends.
func (l *lines) report(ctx context.Context) {
	delay := reportEvery
	if len(l.file.Operations) > fewOperations {
		delay = reportFirst
	}
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

// checked shows that the preflight has checked an operation.
func (l *lines) checked(number int) {
	l.show(checking, number)
	if number == len(l.file.Operations) {
		l.show(executing, 0)
	}
}

func (l *lines) erase() {
	if l.terminal {
		fmt.Fprint(l.errs, eraseLine)
	}
}

// done prints how an operation ended.
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
	line := fmt.Sprintf("operation %d: %s: %s", number, describe(report), report.Outcome)
	if report.Outcome == crud.Deleting && len(report.Finalizers) > 0 {
		line += ", it waits for the finalizers " + strings.Join(report.Finalizers, ", ")
	}
	fmt.Fprintln(l.out, line)
}

// end prints the operations that were not executed, and the errors.
func (l *lines) end(report operations.Report) {
	l.erase()
	for i, of := range report.Operations {
		if i >= l.ended {
			l.print(i+1, of)
		}
	}
	l.problems(report)
}

// problems prints warnings and errors.
func (l *lines) problems(report operations.Report) {
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
}

// describe names an operation and its object.
func describe(report operations.OperationReport) string {
	return string(report.Type) + " " + crud.Ref{Kind: report.Kind, Namespace: report.Namespace, Name: report.Name}.String()
}
