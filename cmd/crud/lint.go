/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"

	"github.com/mallard-dev/mallard/crud/operations"
)

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
