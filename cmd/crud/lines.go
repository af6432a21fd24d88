/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"strings"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// lines prints one line per operation, and on a terminal the operation that is being executed.
type lines struct {
	*program
	file  namedFile
	quiet bool
	ended int // how many operations have ended
}

// eraseLine returns to the beginning of a terminal's line and empties it.
const eraseLine = "\r\x1b[K"

// begin shows that the operation after n is being executed.
func (l *lines) begin(n int) {
	if l.terminal && n < len(l.file.Operations) {
		fmt.Fprintf(l.errs, "%soperation %d of %d: %s", eraseLine, n+1, len(l.file.Operations), l.file.Operations[n].Type)
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
	l.begin(number)
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
