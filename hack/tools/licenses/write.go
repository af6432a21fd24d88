/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

func sorted(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

// list is the name of the file that lists all components.
const list = "licenses.csv"

// writeAll replaces the folder by the files of the components and their list.
func writeAll(output string, found []component) error {
	if err := os.RemoveAll(output); err != nil {
		return fmt.Errorf("removing what was there: %w", err)
	}
	var table bytes.Buffer
	rows := csv.NewWriter(&table)
	if err := rows.Write([]string{"module", "version", "licence", "file"}); err != nil {
		return fmt.Errorf("listing the licences: %w", err)
	}
	for _, c := range found {
		if err := rows.Write([]string{c.module, c.version, c.licence, path.Join(c.module, c.first())}); err != nil {
			return fmt.Errorf("listing the licences: %w", err)
		}
		for _, name := range sorted(c.files) {
			if err := copyText(c.files[name], filepath.Join(output, filepath.FromSlash(path.Join(c.module, name)))); err != nil {
				return fmt.Errorf("copying %s of %s: %w", name, c.module, err)
			}
		}
	}
	rows.Flush()
	if err := rows.Error(); err != nil {
		return fmt.Errorf("listing the licences: %w", err)
	}
	return writeText(filepath.Join(output, list), table.Bytes())
}

func copyText(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	// git would change the line ends anyway, and what is generated has to be what is committed.
	return writeText(to, bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")))
}

func writeText(to string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("making its folder: %w", err)
	}
	if err := os.WriteFile(to, content, 0o644); err != nil { //nolint:gosec // it is for everybody
		return fmt.Errorf("writing it: %w", err)
	}
	return nil
}
