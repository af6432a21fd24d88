/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What becomes of a mutant. All but killed are mistakes: of the tests, or of the mutant.
const (
	killed          = "killed"
	survived        = "survived"
	doesNotApply    = "does not apply"
	doesNotGenerate = "does not generate"
	doesNotCompile  = "does not compile"
	testsDoNotRun   = "tests do not run"
)

// verdict is what became of a mutant, and the test that killed it or what else there is to say.
type verdict struct{ result, detail string }

// judge applies a mutant to the copy, runs the tests and undoes everything. An error is one of the copy.
func (c *copied) judge(ctx context.Context, m mutant) (result verdict, err error) {
	patch, err := filepath.Abs(m.path)
	if err != nil {
		return verdict{}, fmt.Errorf("finding %s: %w", m.path, err)
	}
	if output, err := c.run(ctx, "git", "apply", patch); err != nil {
		return verdict{doesNotApply, output}, nil
	}
	defer func() {
		if _, undo := c.run(ctx, "git", "apply", "--reverse", patch); undo != nil {
			err = errors.Join(err, undo)
		}
	}()

	before, err := c.files(m.generate)
	if err != nil {
		return verdict{}, err
	}
	defer func() { err = errors.Join(err, c.restore(m.generate, before)) }()
	for _, api := range m.generate {
		if output, err := c.generate(ctx, api); err != nil {
			return verdict{doesNotGenerate, output}, nil
		}
	}
	return c.test(ctx, m.tests), nil
}

// generate makes the conversions of an API again.
func (c *copied) generate(ctx context.Context, api string) (string, error) {
	docs, err := filepath.Glob(filepath.Join(c.folder, api, "*", "doc.go"))
	if err != nil {
		return "", fmt.Errorf("finding the versions of %s: %w", api, err)
	}
	var versions []string
	for _, doc := range docs {
		content, err := os.ReadFile(doc)
		if err != nil {
			return "", fmt.Errorf("finding the versions of %s: %w", api, err)
		}
		if strings.Contains(string(content), "+conversion-gen:") {
			versions = append(versions, "./"+filepath.ToSlash(filepath.Join(api, filepath.Base(filepath.Dir(doc)))))
		}
	}
	return c.run(ctx, "go", "run", "./codegen/cmd/assign-gen", "--go-header-file", "hack/boilerplate/boilerplate.go.txt",
		"--input-dirs", strings.Join(versions, ","))
}

var failedTest = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// test runs tests until one fails.
func (c *copied) test(ctx context.Context, packages []string) verdict {
	if output, err := c.run(ctx, "go", slices.Concat([]string{"test", "-run", "^$"}, packages)...); err != nil {
		return verdict{doesNotCompile, output}
	}
	output, err := c.run(ctx, "go", slices.Concat([]string{"test", "-count", "1", "-failfast"}, packages)...)
	switch failed := failedTest.FindAllStringSubmatch(output, -1); {
	case err == nil:
		return verdict{survived, "a test is missing"}
	case failed != nil:
		return verdict{killed, deepest(failed)}
	default:
		return verdict{testsDoNotRun, output}
	}
}

// deepest is the first test that failed, down to its last part.
func deepest(failed [][]string) string {
	name := failed[0][1]
	for _, each := range failed[1:] {
		if strings.HasPrefix(each[1], name+"/") {
			name = each[1]
		}
	}
	return name
}
