/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// target is what is checked, and for what.
type target struct {
	system, module, modfile, tags string
	patterns                      []string
}

// result is what a check has found.
type result struct {
	// own is the number of packages that were asked for, of which one with tests counts again for these, and all that of
	// those with what they import.
	own, all int
	// problems are the compiler's errors, sorted, each once.
	problems []string
}

// check reads the types of the packages, of their tests and of all that these import. Its error is that it could not.
func (t target) check(ctx context.Context) (result, error) {
	flags := []string{"-tags=" + t.tags}
	if t.modfile != "" {
		flags = append(flags, "-modfile="+t.modfile)
	}
	found, err := packages.Load(&packages.Config{
		Context: ctx,
		// With the dependencies, but without what the compiler exports of them: then it need not run.
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes,
		Dir:        t.module,
		Env:        append(os.Environ(), "GOOS="+t.system, "CGO_ENABLED=0", "GOWORK=off"),
		BuildFlags: flags,
		Tests:      true,
	}, t.patterns...)
	if err != nil {
		return result{}, fmt.Errorf("loading the packages of %s for %s: %w", t.module, t.system, err)
	}
	if len(found) == 0 {
		return result{}, fmt.Errorf("%s matches no package in %s", strings.Join(t.patterns, " "), t.module)
	}
	r := result{own: len(found)}
	packages.Visit(found, nil, func(p *packages.Package) {
		r.all++
		for _, problem := range p.Errors {
			r.problems = append(r.problems, problem.Error())
		}
	})
	// A package is loaded a second time with its tests.
	slices.Sort(r.problems)
	r.problems = slices.Compact(r.problems)
	return r, nil
}
