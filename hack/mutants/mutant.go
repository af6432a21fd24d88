/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is a mistake made on purpose.
type mutant struct {
	// name is that of its file, without the number that it is sorted by.
	name, path string
	// breaks says what goes wrong.
	breaks string
	// tests are packages, relative to the checkout.
	tests []string
	// generate are the folders of APIs whose conversions depend on what is changed.
	generate []string
}

// readMutants reads all mutants of a folder.
func readMutants(folder string) ([]mutant, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err != nil || len(paths) == 0 {
		return nil, errors.Join(fmt.Errorf("%s: there is no patch", folder), err)
	}
	slices.Sort(paths)
	mutants := make([]mutant, 0, len(paths))
	for _, path := range paths {
		m, err := readMutant(path)
		if err != nil {
			return nil, err
		}
		mutants = append(mutants, m)
	}
	return mutants, nil
}

func readMutant(path string) (mutant, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return mutant{}, fmt.Errorf("reading a mutant: %w", err)
	}
	_, name, found := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".patch"), "-")
	if !found {
		return mutant{}, fmt.Errorf("%s: the name must be a number, a hyphen and a name, such as 01-drop-hook-call.patch", path)
	}
	m := mutant{name: name, path: path}
	head, _, found := strings.Cut(string(content), "diff --git ")
	if !found {
		return mutant{}, fmt.Errorf("%s: there must be a patch as git diff writes it", path)
	}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch key {
		case "breaks":
			m.breaks = strings.TrimSpace(value)
		case "tests":
			m.tests = strings.Fields(value)
		case "generate":
			m.generate = strings.Fields(value)
		case "":
		default:
			return mutant{}, fmt.Errorf("%s: there must be breaks, tests or generate instead of %q", path, key)
		}
	}
	if m.breaks == "" || m.tests == nil {
		return mutant{}, fmt.Errorf("%s: there must be a line with breaks: and one with tests: above the patch", path)
	}
	return m, nil
}

// chosen are the mutants of these names, or all if there are none.
func chosen(mutants []mutant, names []string) ([]mutant, error) {
	if len(names) == 0 {
		return mutants, nil
	}
	var some []mutant
	for _, name := range names {
		i := slices.IndexFunc(mutants, func(m mutant) bool { return m.name == name })
		if i < 0 {
			all := make([]string, len(mutants))
			for i := range mutants {
				all[i] = mutants[i].name
			}
			return nil, fmt.Errorf("there is no mutant %q; there are %s", name, strings.Join(all, ", "))
		}
		some = append(some, mutants[i])
	}
	return some, nil
}
