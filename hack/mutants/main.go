/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	checkout := flag.String("checkout", ".", "folder of the checkout")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *checkout, filepath.Join(*checkout, "hack", "mutants", "patches"), flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1) //nolint:gocritic // there is nothing left to stop
	}
}

// run judges mutants of a folder, and prints a line for each and a table at the end. It is an error if one is not killed.
func run(ctx context.Context, checkout, patches string, names []string, out io.Writer) (err error) {
	all, err := readMutants(patches)
	if err != nil {
		return err
	}
	mutants, err := chosen(all, names)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "mutants.*")
	if err != nil {
		return fmt.Errorf("making a folder for the copy: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	c, err := copyOf(ctx, checkout, folder)
	if err != nil {
		return err
	}
	if err := c.sound(ctx, mutants, out); err != nil {
		return err
	}

	verdicts := make([]verdict, len(mutants))
	alive := 0
	for i, m := range mutants {
		start := time.Now()
		if verdicts[i], err = c.judge(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", m.name, context.Cause(ctx))
		}
		fmt.Fprintf(out, "%s: %s (%s) after %s\n", m.name, verdicts[i].result, strings.TrimSpace(verdicts[i].detail), time.Since(start).Round(time.Second))
		if verdicts[i].result != killed {
			alive++
		}
	}
	if err := table(out, mutants, verdicts); err != nil {
		return err
	}
	if alive > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", alive, len(mutants))
	}
	return nil
}

// sound makes sure that the tests pass as long as there is no mistake: otherwise they would seem to find each.
func (c *copied) sound(ctx context.Context, mutants []mutant, out io.Writer) error {
	var packages []string
	for _, m := range mutants {
		packages = append(packages, m.tests...)
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	fmt.Fprintf(out, "without a mutant: %s\n", strings.Join(packages, " "))
	if v := c.test(ctx, packages); v.result != survived {
		return errors.New("the tests have to pass without a mutant, but: " + v.result + ": " + v.detail)
	}
	return nil
}

// table prints what became of the mutants.
func table(out io.Writer, mutants []mutant, verdicts []verdict) error {
	const padding = 2
	columns := tabwriter.NewWriter(out, 0, 0, padding, ' ', 0)
	fmt.Fprintln(columns, "\nMUTANT\tRESULT\tBY\tBREAKS")
	for i, m := range mutants {
		by := ""
		if verdicts[i].result == killed {
			by = verdicts[i].detail
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", m.name, verdicts[i].result, by, m.breaks)
	}
	if err := columns.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}
