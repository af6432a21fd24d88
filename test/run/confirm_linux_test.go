//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

func TestMakeRun_KubeconfigOfACluster_TerminalAsksForTheContext(t *testing.T) {
	t.Parallel()
	module, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		typed, want string
		status      int
	}{
		"Another":   {"staging\n", `got "staging" instead of production: nothing was created`, 1},
		"Interrupt": {"\x03", "", interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), binary, "--kubeconfig="+unreachable(t))
			cmd.Dir, cmd.Env = module, append(os.Environ(), "TMPDIR="+t.TempDir(), "KO_DOCKER_REPO=example.com/images")
			user, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = user.Close() }()
			var printed bytes.Buffer
			for buffer := make([]byte, 1<<10); !strings.Contains(printed.String(), "Type the name of the context to use this cluster: "); {
				n, err := user.Read(buffer)
				printed.Write(buffer[:n])
				if err != nil {
					t.Fatalf("it ended without the question: %v\n%s", err, printed.String())
				}
			}
			if _, err := user.WriteString(test.typed); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(&printed, user) // fails when the program has closed the terminal
			_ = cmd.Wait()
			if status := cmd.ProcessState.ExitCode(); status != test.status || !strings.Contains(printed.String(), test.want) {
				t.Errorf("got exit status %d, want %d and %q:\n%s", status, test.status, test.want, printed.String())
			}
		})
	}
}
