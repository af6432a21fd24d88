//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"os"
	"os/exec"
	"runtime/debug"
	"testing"

	"github.com/mallard-dev/mallard/crud/internal/child"
)

// needed is the number of bytes with which each file can be read.
const needed = 384 << 20

// TestParse_HostileFiles_NeedABoundedAmountOfMemory runs itself again in a process that ends when it needs more than that.
func TestParse_HostileFiles_NeedABoundedAmountOfMemory(t *testing.T) {
	const variable = "PARSE_CONFINED"
	if os.Getenv(variable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", t.Name(), "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		output, err := cmd.CombinedOutput()
		if t.Logf("%.10000s", output); err != nil {
			t.Fatal(err)
		}
		return
	}
	child.Confine(needed)
	for name, file := range hostileFiles() {
		checkAllocated(t, name, file.file())
		debug.FreeOSMemory()
	}
}
