/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mallard-dev/mallard/crud/operations"
)

// namedFile is an operation file with the name that messages have for it.
type namedFile struct {
	operations.File
	name string
}

// parse parses flags, which may be before, between and after other arguments, and returns the latter. With --help it prints usage and the flags.
func (p *program) parse(flags *flag.FlagSet, usage string, args []string) (others []string, err error) {
	flags.SetOutput(io.Discard)
	for {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			flags.SetOutput(p.out)
			fmt.Fprintln(p.out, usage)
			flags.PrintDefaults()
			return nil, flag.ErrHelp
		case err != nil:
			return nil, usageError{err}
		case flags.NArg() == 0:
			return others, nil
		}
		others, args = append(others, flags.Arg(0)), flags.Args()[1:]
	}
}

func newFlags() *flag.FlagSet { return flag.NewFlagSet("crud", flag.ContinueOnError) }

// read reads operation files. If one is invalid, none is executed.
func (p *program) read(names []string) ([]namedFile, error) {
	if len(names) == 0 {
		return nil, usageError{errors.New("a FILE is missing: name an operation file, or - for standard input")}
	}
	var (
		files []namedFile
		errs  []error
	)
	for _, name := range names {
		content, err := p.content(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if name == "-" {
			name = "standard input"
		}
		file, err := operations.Parse(content)
		if err != nil {
			errs = append(errs, errors.New(name+":"+strings.ReplaceAll(err.Error(), "\n", "\n"+name+":")))
		}
		files = append(files, namedFile{file, name})
	}
	if len(errs) > 0 {
		return nil, usageError{errors.Join(errs...)}
	}
	return files, nil
}

func (p *program) content(name string) ([]byte, error) {
	if name != "-" {
		return os.ReadFile(name) //nolint:gosec // the user names the file
	}
	content, err := io.ReadAll(io.LimitReader(p.in, operations.MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return content, nil
}
