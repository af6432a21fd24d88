/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package procgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ReportVariable is the environment variable with the path of a file to which each program that has ended is appended.
const ReportVariable = "LOCALCLUSTER_REPORT"

// Report appends a line to the file of [ReportVariable]: the CPU seconds of a program that has ended and of its children, the name of the program and
// its first argument, separated by tabs. Without the variable it does nothing. A line that cannot be written is lost: it is only a statistic.
func Report(used time.Duration, args []string) {
	path := os.Getenv(ReportVariable)
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // the path is the user's
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	words := append([]string{filepath.Base(args[0])}, args[1:min(len(args), 2)]...)
	_, _ = fmt.Fprintf(file, "%.2f\t%s\n", used.Seconds(), strings.Join(words, "\t"))
}
