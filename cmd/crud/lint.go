/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/crud/operations"
)

const lintUsage = `crud lint [flags] FILE...

Reports mistakes, and operations that do not fit others of their file.
`

func (p *program) lint(ctx context.Context, args []string) (operations.State, error) {
	flags, samples := newFlags(), []*unstructured.Unstructured{}
	flags.Func("object", "`path` of an object, with which the jq programs for its kind are tried; it may be repeated", func(path string) error {
		content, err := os.ReadFile(path) //nolint:gosec // the user names the file
		if err != nil {
			return err
		}
		sample := &unstructured.Unstructured{}
		samples = append(samples, sample)
		return yaml.Unmarshal(content, &sample.Object)
	})
	names, err := p.parse(flags, lintUsage, args)
	if err != nil {
		return "", err
	}
	files, err := p.read(names)
	if err != nil {
		return "", err
	}
	state := operations.Done
	for _, file := range files {
		for _, fault := range file.Lint(ctx, samples...) {
			state = operations.Failed
			fmt.Fprintf(p.out, "%s:%s\n", file.name, fault)
		}
	}
	return state, nil
}
