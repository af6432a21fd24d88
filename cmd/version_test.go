/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cmd

import (
	"os/exec"
	"testing"
)

func TestBinaries_VersionFlag_PrintTheirVersion(t *testing.T) {
	for name, binary := range build(t) {
		command := exec.CommandContext(t.Context(), binary, "--version")
		command.Env = []string{"HEALTH_PORT=bad"} // which is not looked at
		out, err := command.CombinedOutput()
		if want := name + " devel\n"; err != nil || string(out) != want {
			t.Errorf("%s --version prints %q and ends with %v, want %q", name, out, err, want)
		}
	}
}
