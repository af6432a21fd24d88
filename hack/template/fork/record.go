/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// recordFile is the name of the record in the root of a fork.
const recordFile = ".template.yaml"

const recordComment = "# The template that this repository was forked from. make update-template reads this file and changes the commit.\n"

// record has the origin of a fork.
type record struct {
	// Commit of the template.
	Commit string `json:"commit"`
	// Arguments of make fork by variable, without TO.
	Arguments map[string]string `json:"arguments"`
}

// readRecord returns the record of the fork in a folder.
func readRecord(root string) (record, error) {
	var r record
	content, err := os.ReadFile(filepath.Join(root, recordFile))
	if err != nil {
		return r, fmt.Errorf("reading the record of this fork: %w", err)
	}
	if err := yaml.UnmarshalStrict(content, &r); err != nil {
		return r, fmt.Errorf("%s: %w", recordFile, err)
	}
	return r, nil
}

// write writes the record to the root of a fork.
func (r record) write(root string) error {
	content, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("%s: %w", recordFile, err)
	}
	if err := os.WriteFile(filepath.Join(root, recordFile), append([]byte(recordComment), content...), 0o644); err != nil {
		return fmt.Errorf("writing the record: %w", err)
	}
	return nil
}
