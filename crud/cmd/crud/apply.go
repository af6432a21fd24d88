/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

type applyFlags struct {
	cluster
	task, output string
}

// applying returns the command that executes files, or that shows the changes which they would make.
func (p *program) applying(state *operations.State, name, short string) *cobra.Command {
	var options applyFlags
	command := &cobra.Command{Use: name + " FILE...", Short: short, RunE: func(command *cobra.Command, names []string) (err error) {
		*state, err = p.apply(command.Context(), options, name == "preview", names)
		return err
	}}
	flags := command.Flags()
	options.register(flags)
	flags.StringVar(&options.task, "task", "", "`name` of the task, the same for each repetition after a failure: no operation is executed twice")
	flags.Func("output", "print the results as `text or json`", func(value string) error {
		if options.output = value; value != "text" && value != "json" {
			return errors.New("use text or json")
		}
		return nil
	})
	return command
}

func (p *program) apply(ctx context.Context, options applyFlags, preview bool, names []string) (operations.State, error) {
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
		file.DryRun = file.DryRun || preview
		if file.Task = options.task; file.Task != "" && i > 0 {
			file.Task += " " + strconv.Itoa(i)
		}
		state, err := p.applyFile(ctx, client, file, options)
		if worst == operations.Done || state == operations.Failed {
			worst = state
		}
		if err != nil || worst != operations.Done && !file.DryRun {
			return worst, err
		}
	}
	return worst, nil
}

func (p *program) applyFile(ctx context.Context, client *crud.Client, file namedFile, options applyFlags) (operations.State, error) {
	isJSON := options.output == "json"
	lines := &lines{program: p, file: file, quiet: isJSON}
	var results []crud.Result
	var err error
	if file.DryRun {
		lines.changes = client.Preview(ctx, file.Operations)
		results, err = resultsOf(lines.changes)
	} else {
		plan := file.Plan
		plan.Checked, plan.Done = lines.checked, lines.done
		if lines.show("checking", 0); plan.SkipPreflight || len(plan.Operations) == 1 {
			lines.show(executing, 0)
		}
		reporting, stop := context.WithCancel(ctx)
		go lines.report(reporting)
		results, err = client.RunPlan(ctx, plan)
		stop()
	}
	report := file.Report(results, err)
	if err := lines.end(report); err != nil {
		return operations.Failed, err
	}
	if isJSON {
		encoder := json.NewEncoder(p.out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return operations.Failed, fmt.Errorf("printing the results: %w", err)
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
