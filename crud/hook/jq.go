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

	"github.com/spf13/pflag"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// evaluate returns the single result of a jq program of variables as JSON.
func evaluate(program string, names []string, values []any) (json.RawMessage, error) {
	results, err := child.Run(context.Background(), program, nil, names, values)
	switch {
	case err != nil:
		return nil, err
	case len(results) == 0:
		return nil, errors.New("the jq program returned no value: it must return one")
	case len(results) > 1:
		return nil, errors.New("the jq program returned several values: it must return one, so call the function once for each object or patch")
	}
	return results[0], nil
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
	content, err := os.ReadFile(os.Getenv(contextVariable)) //nolint:gosec // the hook decides
	if err != nil {
		return fmt.Errorf("environment variable %s: %w", contextVariable, err)
	}
	results, err := child.Run(context.Background(), flags.Arg(0), json.RawMessage(content), names, values)
	for _, line := range results {
		var text string
		if !*isJSON && line[0] == '"' && json.Unmarshal(line, &text) == nil {
			line = json.RawMessage(text)
		}
		if _, err := fmt.Fprintf(to, "%s\n", line); err != nil {
			return fmt.Errorf("printing a result: %w", err)
		}
	}
	return err
}
