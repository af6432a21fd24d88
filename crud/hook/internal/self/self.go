/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package self

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// name is that by which the process was called, which a main function may replace later, as it may the working directory.
var name, nameErr = func() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}()

// Path returns the path of the executable. Without a /proc file system, that is the one by which the process was called.
func Path() (string, error) {
	path, err := os.Executable()
	if err != nil {
		path, err = name, nameErr
	}
	if err != nil {
		return "", fmt.Errorf("finding the executable of this process: %w", err)
	}
	return path, nil
}
