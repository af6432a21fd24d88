/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/itchyny/gojq"
	"github.com/spf13/pflag"

	"github.com/mallard-dev/mallard/crud/internal/jq"
)

// evaluate returns the single result of a jq program of variables as JSON.
func evaluate(program string, names []string, values []any) (json.RawMessage, error) {
	code, err := jq.Compile(program, names...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), filterTimeout)
	defer cancel()
	iter := code.RunWithContext(ctx, nil, values...)
	result, ok := iter.Next()
	if err, isError := result.(error); isError {
		return nil, jq.Error(err)
	}
	if !ok {
		return nil, errors.New("the jq program returned no value: it must return one")
	}
	if _, more := iter.Next(); more {
		return nil, errors.New("the jq program returned several values: it must return one, so call the function once for each object or patch")
	}
	return gojq.Marshal(result) //nolint:wrapcheck // it does not fail
}

// printContext prints the results of a jq filter of the binding contexts.
func printContext(args []string, to io.Writer) error {
	flags := pflag.NewFlagSet("context", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	isJSON := flags.Bool("json", false, "")
	var a arguments
	flags.StringArrayVar(&a.variables, "arg", nil, "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return errors.Join(err, errors.New("crud::context: use [--json] [--arg NAME=VALUE ...] FILTER"))
	}
	names, values, err := a.split()
	if err != nil {
		return err
	}
	code, err := jq.Compile(flags.Arg(0), names...)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(os.Getenv(contextVariable)) //nolint:gosec // the hook decides
	if err != nil {
		return fmt.Errorf("environment variable %s: %w", contextVariable, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	var contexts any
	if err := decoder.Decode(&contexts); err != nil {
		return fmt.Errorf("reading the binding contexts: %w", err)
	}
	iter := code.Run(contexts, values...)
	for {
		result, ok := iter.Next()
		if !ok {
			return nil
		}
		if err, isError := result.(error); isError {
			return jq.Error(err)
		}
		line, isText := result.(string)
		if !isText || *isJSON {
			encoded, err := gojq.Marshal(result)
			if err != nil {
				return fmt.Errorf("encoding a result: %w", err)
			}
			line = string(encoded)
		}
		if _, err := fmt.Fprintln(to, line); err != nil {
			return fmt.Errorf("printing a result: %w", err)
		}
	}
}
