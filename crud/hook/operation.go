/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/itchyny/gojq/cli"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud/internal/child"
	"github.com/mallard-dev/mallard/crud/operations"
)

// mostMemory bounds what Main needs for the largest binding context.
const mostMemory = 256 << 20

// JQCommand is the argument with which Main is the program jq, whose arguments follow.
const JQCommand = "hook-jq"

// Main does what the shell functions call this program for, and ends the process, if it was called by them. The main function of a program
// with hooks calls it first.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == JQCommand {
		os.Args = os.Args[1:]
		os.Exit(cli.Run())
	}
	commands := map[string]func([]string) error{"hook-operation": appendOperation, "hook-context": printContext}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		return
	}
	child.Confine(mostMemory)
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// appendOperation appends an operation to the file of the run with one write, so that those of concurrent processes do not mix.
func appendOperation(args []string) (err error) {
	line, err := Operation(args, os.Stdin)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(os.Getenv(operationsVariable), os.O_WRONLY|os.O_APPEND, 0) //nolint:gosec // the hook decides
	if err != nil {
		return fmt.Errorf("environment variable %s: %w", operationsVariable, err)
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}

// arguments are those of an operation: its flags, by the names of the fields, and the variables of jq programs.
type arguments struct {
	fields    map[string]any
	variables []string
	rest      []string
}

// texts and switches are the flags, and the fields that they set.
var (
	texts = map[string]string{
		"namespace": "namespace", "api-version": "apiVersion", "strategy": "strategy",
		"on-immutable": "onImmutable", "owned-by": "ownedBy", "wait": "wait",
		"uid": "preconditions.uid", "resource-version": "preconditions.resourceVersion",
	}
	switches = map[string]string{
		"status": "statusPatch", "ignore-missing": "ignoreMissing", "ignore-missing-paths": "ignoreMissingPaths",
		"apply-on-hook-error": "applyOnHookError",
	}
)

func parseArguments(name string, args []string, texts, switches map[string]string) (a arguments, err error) {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for flag, field := range texts {
		shorthand := ""
		if flag == "namespace" {
			shorthand = "n"
		}
		flags.StringP(flag, shorthand, "", "sets "+field)
	}
	for flag, field := range switches {
		flags.Bool(flag, false, "sets "+field)
	}
	flags.StringArrayVar(&a.variables, "arg", nil, "a variable of the jq program, NAME=VALUE")
	if err := flags.Parse(args); err != nil {
		return a, fmt.Errorf("%w: the flags are\n%s", err, flags.FlagUsages())
	}
	a.fields, a.rest = map[string]any{}, flags.Args()
	flags.Visit(func(f *pflag.Flag) {
		if field := texts[f.Name]; field != "" {
			_ = unstructured.SetNestedField(a.fields, f.Value.String(), strings.Split(field, ".")...) // no field is part of another
		} else if field := switches[f.Name]; field != "" {
			a.fields[field] = f.Value.String() == "true"
		}
	})
	return a, nil
}

// Operation returns an operation as one line of JSON, as the shell functions write it. The arguments are the type of the operation, then those
// of the function; crud.sh describes them. An object or a patch that is not among them is read from stdin.
func Operation(args []string, stdin io.Reader) (line []byte, err error) {
	if len(args) == 0 {
		return nil, errors.New("the type of the operation is missing")
	}
	a, err := parseArguments(args[0], args[1:], texts, switches)
	if err == nil {
		err = a.complete(args[0], stdin)
	}
	if err == nil {
		line, err = json.Marshal(a.fields)
	}
	if err == nil {
		_, err = operations.Parse(line)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return append(line, '\n'), nil
}

// complete sets the fields that are no flags.
func (a *arguments) complete(typeOf string, stdin io.Reader) (err error) {
	a.fields["operationType"] = typeOf
	if !strings.HasPrefix(typeOf, "Create") {
		if len(a.rest) < 2 {
			return errors.New("KIND and NAME are missing")
		}
		a.fields["kind"], a.fields["name"] = a.rest[0], a.rest[1]
		a.rest = a.rest[2:]
	}
	if !strings.HasPrefix(typeOf, "EnsureDeleted") {
		if a.fields["spec"], err = a.spec(typeOf, stdin); err != nil {
			return err
		}
	}
	if len(a.rest) > 0 {
		return fmt.Errorf("there are too many arguments: leave out the last %d", len(a.rest))
	}
	return nil
}

// spec returns the specification of the operation: the next argument, or else what stdin has.
func (a *arguments) spec(typeOf string, stdin io.Reader) (any, error) {
	var text string
	if len(a.rest) > 0 {
		text, a.rest = a.rest[0], a.rest[1:]
	} else {
		content, err := io.ReadAll(io.LimitReader(stdin, operations.MostBytes+1))
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		text = string(content)
	}
	program, err := a.bind(text)
	if err != nil || len(a.variables) == 0 || typeOf == "JQPatch" {
		return program, err // the parser of operation files reads JSON and YAML in it
	}
	results, err := child.Run(context.Background(), program, nil)
	if err == nil && len(results) != 1 {
		err = fmt.Errorf("the jq program returned %d values: it must return one, so call the function once for each object or patch", len(results))
	}
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// bind returns a jq program in which the variables have their values.
func (a *arguments) bind(program string) (string, error) {
	for _, variable := range slices.Backward(a.variables) {
		name, value, ok := strings.Cut(variable, "=")
		if !ok {
			return "", errors.New("--arg must be NAME=VALUE")
		}
		literal, err := json.Marshal(value) // a string in JSON is one in jq, too
		if err != nil {
			return "", fmt.Errorf("--arg %s: %w", name, err)
		}
		program = string(literal) + " as $" + name + " | " + program
	}
	return program, nil
}

// printContext prints the results of a jq program for the binding contexts.
func printContext(args []string) error {
	a, err := parseArguments("crud::context", args, nil, map[string]string{"json": "json"})
	if err != nil || len(a.rest) != 1 {
		return errors.Join(err, errors.New("crud::context: use [--json] [--arg NAME=VALUE ...] FILTER"))
	}
	program, err := a.bind(a.rest[0])
	if err != nil {
		return err
	}
	content, err := os.ReadFile(os.Getenv(contextVariable)) //nolint:gosec // the hook decides
	if err != nil {
		return fmt.Errorf("environment variable %s: %w", contextVariable, err)
	}
	results, err := child.Run(context.Background(), program, json.RawMessage(content))
	for _, line := range results {
		var text string
		if a.fields["json"] != true && line[0] == '"' && json.Unmarshal(line, &text) == nil {
			line = json.RawMessage(text)
		}
		if _, err := fmt.Printf("%s\n", line); err != nil {
			return fmt.Errorf("printing a result: %w", err)
		}
	}
	return err
}
