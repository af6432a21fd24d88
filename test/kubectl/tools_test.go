/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// toolVariable makes this program a tool of kubectl's instead of a test. Those of a machine may be missing.
const toolVariable = "MALLARD_TEST_KUBECTL_TOOL"

// offerTools has every kubectl that is started from now on use this program.
func offerTools() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	return errors.Join(os.Setenv(toolVariable, "yes"), os.Setenv("KUBE_EDITOR", self), os.Setenv("KUBECTL_EXTERNAL_DIFF", self))
}

// runTool is the editor if it is given a file, and the diff if it is given two folders.
func runTool(args []string) int {
	var err error
	var different bool
	switch len(args) {
	case 1:
		err = edit(args[0])
	case 2:
		different, err = diff(args[0], args[1])
	default:
		err = fmt.Errorf("got the arguments %q, want a file to edit or two folders to compare", args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if different {
		return 1
	}
	return 0
}

// edit is the change that the user of the editor makes.
func edit(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.ReplaceAll(content, []byte("path: /old"), []byte("path: /edited")), 0o600)
}

// diff prints the lines that the files of only one of two folders have.
func diff(before, after string) (different bool, err error) {
	entries, err := os.ReadDir(after)
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		was, err := lines(filepath.Join(before, entry.Name()))
		if err != nil {
			return false, err
		}
		is, err := lines(filepath.Join(after, entry.Name()))
		if err != nil {
			return false, err
		}
		different = printMissing("-", was, is) || different
		different = printMissing("+", is, was) || different
	}
	return different, nil
}

func lines(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return strings.Split(string(content), "\n"), err
}

// printMissing prints the lines that the others lack, and says whether there are any.
func printMissing(sign string, lines, others []string) bool {
	missing := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
	for _, line := range missing {
		fmt.Println(sign + line)
	}
	return len(missing) > 0
}
