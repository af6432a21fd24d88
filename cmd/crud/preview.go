/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"

	"github.com/mallard-dev/mallard/crud/operations"
)

const previewUsage = `crud preview [flags] FILE...

Shows what apply would change as a diff of each object, without values of Secrets. Operations that depend on earlier ones of their file are
deferred, since they cannot be tried before those are executed.
`

func (p *program) preview(ctx context.Context, args []string) (operations.State, error) {
	var cluster cluster
	flags := newFlags()
	cluster.register(flags)
	names, err := p.parse(flags, previewUsage, args)
	if err != nil {
		return "", err
	}
	files, err := p.read(names)
	if err != nil {
		return "", err
	}
	client, err := cluster.client()
	if err != nil {
		return "", err
	}
	state := operations.Done
	for _, file := range files {
		file.DryRun = true
		changes := client.Preview(ctx, file.Operations)
		report := file.Report(resultsOf(changes))
		for i, change := range changes {
			outcome := string(change.Result.Outcome)
			if change.Deferred {
				outcome = "deferred, since it depends on an operation before"
			}
			fmt.Fprintf(p.out, "operation %d: %s: %s\n", i+1, describe(report.Operations[i]), outcome)
			diff, err := change.Diff()
			if err != nil {
				return "", fmt.Errorf("operation %d: %w", i+1, err)
			}
			fmt.Fprint(p.out, diff)
		}
		(&lines{program: p, file: file}).problems(report)
		state = worse(state, report.State)
	}
	return state, nil
}

// worse returns the state that needs more attention.
func worse(a, b operations.State) operations.State {
	if a == operations.Done || b == operations.Failed {
		return b
	}
	return a
}

const lintUsage = `crud lint [flags] FILE...

Reports mistakes, and operations that do not fit others of their file.
`

func (p *program) lint(args []string) (operations.State, error) {
	names, err := p.parse(newFlags(), lintUsage, args)
	if err != nil {
		return "", err
	}
	files, err := p.read(names)
	if err != nil {
		return "", err
	}
	state := operations.Done
	for _, file := range files {
		for _, fault := range file.Lint() {
			state = operations.Failed
			fmt.Fprintf(p.out, "%s:%s\n", file.name, fault)
		}
	}
	return state, nil
}
