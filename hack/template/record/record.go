/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package record reads and writes the file in which a fork records the commit of the template that it was made from, and the arguments of
// make fork.
package record

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// File is the name of the record in the root of a fork.
const File = ".template.yaml"

const comment = "# The template that this repository was forked from. make update-template reads this file and changes the commit.\n"

// Record has the origin of a fork.
type Record struct {
	// Commit of the template.
	Commit string `json:"commit"`
	// Arguments of make fork by variable, without TO.
	Arguments map[string]string `json:"arguments"`
}

// Read returns the record of the fork in a folder.
func Read(root string) (Record, error) {
	var r Record
	content, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		return r, fmt.Errorf("reading the record of this fork: %w", err)
	}
	if err := yaml.UnmarshalStrict(content, &r); err != nil {
		return r, fmt.Errorf("%s: %w", File, err)
	}
	return r, nil
}

// Write writes the record to the root of a fork.
func (r Record) Write(root string) error {
	content, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("%s: %w", File, err)
	}
	if err := os.WriteFile(filepath.Join(root, File), append([]byte(comment), content...), 0o644); err != nil {
		return fmt.Errorf("writing the record: %w", err)
	}
	return nil
}
