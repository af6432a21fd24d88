/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Generators runs several generators of k8s.io/code-generator and knative.dev/pkg in one process. As separate programs, each of them loads the
// types and all that they import from source, which takes nearly all of its time; in one process, they load them once. hack/update-codegen.sh
// calls it.
//
// Each generator has the name, the flags and the arguments of its program, and "--" separates it from the next. A generator sees only the packages
// that it is given:
//
//	generators deepcopy-gen --output-file zz_generated.deepcopy.go ./apis/... -- lister-gen --output-pkg example.com/listers ./apis/v1
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/gengo/v2"
	"k8s.io/gengo/v2/generator"
	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/parser"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generators:", err)
		os.Exit(1)
	}
}

// invocation is one generator with its arguments.
type invocation struct {
	name     string
	packages []string // patterns of the packages that it generates from
	systems  namer.NameSystems
	system   string // the name system that orders the types
	targets  func(*generator.Context) []generator.Target
}

// run loads all packages that the generators are given, and runs the generators one after the other.
func run(args []string) error {
	var invocations []invocation
	var patterns []string
	for _, part := range split(args) {
		invocation, err := parse(part)
		if err != nil {
			return err
		}
		invocations, patterns = append(invocations, invocation), append(patterns, invocation.packages...)
	}
	slices.Sort(patterns)
	parser := parser.NewWithOptions(parser.Options{BuildTags: []string{gengo.StdBuildTag}})
	if err := parser.LoadPackages(slices.Compact(patterns)...); err != nil {
		return fmt.Errorf("load the packages of the types: %w", err)
	}
	loaded, err := generator.NewContext(parser, nil, "")
	if err != nil {
		return fmt.Errorf("read the types: %w", err)
	}
	// Generators add types that they refer to, so that all contexts are made before the first of them runs.
	contexts := make([]*generator.Context, len(invocations))
	for n, invocation := range invocations {
		if contexts[n], err = invocation.context(parser, *loaded); err != nil {
			return fmt.Errorf("%s: %w", invocation.name, err)
		}
	}
	for n, invocation := range invocations {
		os.Args[0] = invocation.name
		if err := contexts[n].ExecuteTargets(invocation.targets(contexts[n])); err != nil {
			return fmt.Errorf("%s: %w", invocation.name, err)
		}
	}
	return nil
}

// split returns the arguments of each generator.
func split(args []string) [][]string {
	var parts [][]string
	for end := slices.Index(args, "--"); end >= 0; end = slices.Index(args, "--") {
		parts, args = append(parts, args[:end]), args[end+1:]
	}
	return append(parts, args)
}

// parse reads the name, the flags and the packages of one generator.
func parse(args []string) (invocation, error) {
	if len(args) == 0 || known[args[0]] == nil {
		return invocation{}, fmt.Errorf("%q does not begin with a generator; there are %s", args, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	// The generators write the base name of their program into each file.
	os.Args[0] = args[0]
	flags := pflag.NewFlagSet(args[0], pflag.ContinueOnError)
	complete := known[args[0]](flags)
	if err := flags.Parse(args[1:]); err != nil {
		return invocation{}, fmt.Errorf("%s: %w", args[0], err)
	}
	made := invocation{name: args[0], packages: flags.Args()}
	if err := complete(&made); err != nil {
		return invocation{}, fmt.Errorf("%s: %w", args[0], err)
	}
	if len(made.packages) == 0 {
		return invocation{}, fmt.Errorf("%s: no packages are given", args[0])
	}
	return made, nil
}

// context returns the types as the invocation's generator sees them. It copies the context that has loaded all packages, since a parser adds the
// types of a package to one universe only.
func (i invocation) context(parser *parser.Parser, context generator.Context) (*generator.Context, error) {
	inputs, err := parser.FindPackages(i.packages...)
	if err != nil {
		return nil, fmt.Errorf("find its packages: %w", err)
	}
	slices.Sort(inputs)
	context.Inputs = slices.Compact(inputs)
	context.Namers = i.systems
	if ordered, ok := i.systems[i.system]; ok {
		orderer := namer.Orderer{Namer: ordered}
		context.Order = orderer.OrderUniverse(context.Universe)
	}
	return &context, nil
}
