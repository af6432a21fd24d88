/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"

	"github.com/mallard-dev/mallard/crud/operations"
)

func (p *program) schema(args []string) (operations.State, error) {
	flags, describe := newFlags(), operations.Schema
	choose(flags, "output", "print it as `json or markdown`, which is the page docs/reference/operation-files.md (default json)", func(choice string) {
		if choice == "markdown" {
			describe = operations.Reference
		}
	}, "json", "markdown")
	switch others, err := p.parse(flags, "crud schema [flags]\n\nPrints the JSON Schema of operation files.", args); {
	case err != nil:
		return "", err
	case len(others) > 0:
		return "", usageError{fmt.Errorf("schema takes no argument: leave out %q", others[0])}
	}
	schema, err := describe()
	if err != nil {
		return "", fmt.Errorf("describing operation files: %w", err)
	}
	if _, err := p.out.Write(schema); err != nil {
		return "", fmt.Errorf("printing the schema: %w", err)
	}
	return operations.Done, nil
}
