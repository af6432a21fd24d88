/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// rejection is the message of requests that a proxy fails. An error with it needs no declaration.
const rejection = "the harness has this request fail"

// createdElsewhere is the message with which client-go reports that another replica has created a lease at the same moment, which each first start of two
// replicas can cause. No test needs to declare it.
const createdElsewhere = "Error initially creating lease lock"

// elector is the caller of the errors with which client-go reports a renewal that SIGTERM interrupts. They are no errors of the operator: client-go then
// releases the lease.
const elector = "leaderelection/leaderelection.go"

// namespaceOfATest matches the names that [Env.Namespace] gives.
var namespaceOfATest = regexp.MustCompile(`\bt-[a-z0-9-]+-[a-z0-9]{5}\b`)

// shownErrors is the number of unexpected errors that are shown.
const shownErrors = 20

// ExpectErrors declares the errors in the operator's logs that a test causes: the lines that contain one of the parts, such as a namespace. Others fail
// the suite, see [Main]. Errors of requests that [Proxy.Fail] fails need no declaration. Suites that share an environment share their declarations.
func (e *Env) ExpectErrors(t testing.TB, parts ...string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expected = append(e.expected, parts...)
	if !e.attached {
		return
	}
	file, err := os.OpenFile(e.declared(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(file, strings.Join(parts, "\n"))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatalf("declaring errors to other suites: %v", err)
	}
}

// declared is the path of the file with the parts that suites have declared that share the environment.
func (e *Env) declared() string {
	return filepath.Join(filepath.Dir(e.environment.LogFile("")), "expected-errors")
}

// logs returns the lines of the operator's logs by their files.
func (e *Env) logs() map[string][]string {
	files, _ := filepath.Glob(e.environment.LogFile("*"))
	logs := map[string][]string{}
	for _, file := range files {
		logs[file], _ = processes.LastLines(file, math.MaxInt)
	}
	return logs
}

// checkErrors returns an error with the unexpected errors in the operator's logs since they had the lines of before.
func (e *Env) checkErrors(before map[string][]string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var unexpected []string
	for file, lines := range e.logs() {
		unexpected = append(unexpected, e.unexpected(lines[len(before[file]):])...)
	}
	if len(unexpected) == 0 {
		return nil
	}
	return fmt.Errorf("errors in the operator's logs that no test declares with ExpectErrors: %d, the first ones:\n%s",
		len(unexpected), indent(unexpected[:min(len(unexpected), shownErrors)]))
}

// unexpected returns the lines with errors that are not declared. If other suites use the operator, those that contain a namespace of the tests of
// another suite are not its own. One without any namespace of a test fails each suite that runs.
func (e *Env) unexpected(lines []string) []string {
	expected := e.expected
	if e.attached {
		content, _ := os.ReadFile(e.declared()) // it exists once an error was declared
		expected = append(slices.Clone(expected), strings.FieldsFunc(string(content), func(r rune) bool { return r == '\n' })...)
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		isPart := func(part string) bool { return strings.Contains(line, part) }
		return !processes.IsError(line) || isPart(rejection) || isPart(createdElsewhere) && isPart("already exists") ||
			isPart(elector) && isPart("context canceled") || slices.ContainsFunc(expected, isPart) ||
			e.attached && namespaceOfATest.MatchString(line) && !slices.ContainsFunc(e.namespaces, isPart)
	})
}
