/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package child

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// called is the path by which the process was called, or "". A main function may replace the arguments later, and change the working directory.
var called = func() string {
	path, err := exec.LookPath(os.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return ""
	}
	return path
}()

// Executable returns the path of the executable. Without a /proc file system, as in Pods of the local control plane, that is the one by which the process was
// called.
func Executable() (string, error) {
	path, err := os.Executable()
	switch {
	case err == nil:
		return path, nil
	case called != "":
		return called, nil
	}
	return "", fmt.Errorf("finding the executable of this process: %w", err)
}
