/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strconv"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

type applyFlags struct {
	cluster
	results string
	task    string
	json    bool
	diff    bool
	set     []func(*operations.File) // options of a file that flags override
}

func (a *applyFlags) register(flags *flag.FlagSet) {
	a.cluster.register(flags)
	flags.StringVar(&a.task, "task", "", "`name` of the task, the same each time that the command is repeated after a failure: no operation is executed twice")
	flags.StringVar(&a.results, "results", "", "write the results to this `path` as JSON")
	choose(flags, "output", "print the results as `text or json`", func(choice string) { a.json = choice == "json" }, "text", "json")
	flags.BoolFunc("dry-run", "change nothing (default as the file says)", func(value string) error {
		dryRun, err := strconv.ParseBool(value)
		a.set = append(a.set, func(f *operations.File) { f.DryRun = dryRun })
		return err //nolint:wrapcheck // package flag does
	})
	choose(flags, "on-failure", "`stop or continue` after an operation that failed (default as the file says, or stop)", func(choice string) {
		a.set = append(a.set, func(f *operations.File) { f.Continue = choice == "continue" })
	}, "stop", "continue")
	choose(flags, "preflight", "check on the cluster before the first operation that none has to fail: `full or off` (default as the file says, or full)",
		func(choice string) {
			a.set = append(a.set, func(f *operations.File) { f.SkipPreflight = choice == "off" })
		}, "full", "off")
}

func choose(flags *flag.FlagSet, name, usage string, set func(string), one, other string) {
	flags.Func(name, usage, func(value string) error {
		if value != one && value != other {
			return fmt.Errorf("use %s or %s", one, other)
		}
		set(value)
		return nil
	})
}

const applyUsage = `crud apply [flags] FILE...

Executes the operations of the files in order. After a file that failed, the next ones are not executed. An interrupt lets the request that
was sent complete.
`

const previewUsage = `crud preview [flags] FILE...

Shows what apply would change as a diff of each object, without values of Secrets. Operations that depend on earlier ones of their file are
deferred, since they cannot be tried before those are executed.
`

func (p *program) apply(ctx context.Context, usage string, preview bool, args []string) (operations.State, error) {
	options := applyFlags{diff: preview}
	flags := newFlags()
	options.register(flags)
	names, err := p.parse(flags, usage, args)
	if err != nil {
		return "", err
	}
	if options.results != "" && len(names) > 1 {
		return "", usageError{errors.New("--results takes the results of a single FILE")}
	}
	files, err := p.read(names)
	if err != nil {
		return "", err
	}
	client, err := options.client()
	if err != nil {
		return "", err
	}
	worst := operations.Done
	for i, file := range files {
		for _, set := range options.set {
			set(&file.File)
		}
		file.DryRun = file.DryRun || preview
		if file.Task = options.task; file.Task != "" && i > 0 {
			file.Task += " " + strconv.Itoa(i)
		}
		state, err := p.applyFile(ctx, client, file, options)
		if worst == operations.Done || state == operations.Failed {
			worst = state
		}
		if err != nil || worst != operations.Done && !preview {
			return worst, err
		}
	}
	return worst, nil
}

func (p *program) applyFile(ctx context.Context, client *crud.Client, file namedFile, options applyFlags) (operations.State, error) {
	lines := &lines{program: p, file: file, quiet: options.json}
	var (
		results []crud.Result
		err     error
	)
	if file.DryRun {
		changes := client.Preview(ctx, file.Operations)
		if results, err = resultsOf(changes); options.diff && !options.json {
			lines.changes = changes
		}
	} else {
		plan := file.Plan
		plan.Checked, plan.Done = lines.checked, lines.done
		if lines.show(checking, 0); plan.SkipPreflight {
			lines.show(executing, 0)
		}
		reporting, stop := context.WithCancel(ctx)
		go lines.report(reporting)
		results, err = client.RunPlan(ctx, plan)
		stop()
	}
	report := file.Report(results, err)
	if err := lines.end(report); err != nil {
		return "", err
	}
	if options.json {
		encoder := json.NewEncoder(p.out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return "", fmt.Errorf("printing the results: %w", err)
		}
	}
	if options.results != "" {
		if err := report.WriteFile(options.results); err != nil {
			return "", fmt.Errorf("--results: %w", err)
		}
	}
	return report.State, nil
}

func resultsOf(changes []crud.Change) (results []crud.Result, _ error) {
	var errs []error
	for i, change := range changes {
		if results = append(results, change.Result); change.Err != nil {
			errs = append(errs, &crud.NumberedError{Number: i + 1, Err: change.Err})
		}
	}
	return results, errors.Join(errs...)
}
