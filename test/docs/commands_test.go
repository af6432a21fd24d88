//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.MainWithoutEnvironment(m)) }

// commandTimeout bounds one block; the longest clones the repository and builds it.
const commandTimeout = 30 * time.Minute

// apart are blocks that another test runs, or that run this one.
var apart = map[string]string{
	"git clone https://github.com/mallard-dev/mallard\ncd mallard\nmake run\n": "TestReadme_MakeRun_PrintsTheLinesShown",
	"make test\n": "CI runs it for each change",
}

// inPods are the documents whose commands need the operator in Pods. They share a control plane, in this order: the last one removes the operator.
var inPods = []string{
	"docs/how-to/troubleshoot.md",
	"docs/how-to/upgrade.md",
	"docs/how-to/migrate-stored-objects.md",
	"docs/how-to/renew-certificates.md",
	"docs/how-to/back-up.md",
	"docs/how-to/uninstall.md",
}

// variants are options by the command with which the reader of a document starts the operator.
var variants = map[string]harness.Option{
	"make run OVERLAY=hooks": harness.WithOverlay("hooks"),
	"make run VERSIONS=all":  harness.AllVersions(),
}

// TestCommands_EachDocument_PrintWhatItShows runs the commands of each document in order, on its own control plane with the samples applied.
func TestCommands_EachDocument_PrintWhatItShows(t *testing.T) {
	for _, file := range documents(t) {
		commands := commandsOf(t, file)
		if len(commands) == 0 || slices.Contains(inPods, file) {
			continue
		}
		var options []harness.Option
		for command, option := range variants {
			if strings.Contains(read(t, file), command) {
				options = append(options, option)
			}
		}
		t.Run(file, func(t *testing.T) { runCommands(t, harness.Own(t, options...), nil, commands) })
	}
}

// commandsOf returns the blocks of a document whose commands no other test runs.
func commandsOf(t *testing.T, file string) []block {
	t.Helper()
	var commands []block
	for _, b := range blocks(t, file) {
		_, delegated := b.attributes["shown-by"]
		_, elsewhere := apart[b.text]
		if (b.kind == "sh" || b.kind == "console") && !delegated && !elsewhere {
			commands = append(commands, b)
		}
	}
	return commands
}

// runCommands applies the samples, and then runs the commands as a reader of the document would.
func runCommands(t *testing.T, env *harness.Env, environment []string, commands []block) {
	t.Helper()
	shell := shell{dir: root, env: append(append(os.Environ(), environment...),
		"KUBECONFIG="+env.Kubeconfig, "PATH="+env.KubectlPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"))}
	shell.run(t, "kubectl apply -f samples/ && kubectl wait --for=condition=Ready asvc,abind,sdeploy --all --timeout=5m", false)
	for _, b := range commands {
		if b.kind == "console" {
			shell.console(t, b)
		} else {
			shell.run(t, b.text, false)
		}
	}
}

// shell runs commands as a reader of the documents would.
type shell struct {
	dir string
	env []string
}

// run runs a script, which must succeed or fail, and returns what it prints.
func (s shell) run(t *testing.T, script string, fails bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-e", "-u", "-o", "pipefail", "-c", script)
	command.Dir, command.Env = s.dir, s.env
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	if (err != nil) != fails {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return string(out)
}

// console runs the commands of a block and compares their output with the block.
func (s shell) console(t *testing.T, b block) {
	t.Helper()
	_, fails := b.attributes["fails"]
	for part := range strings.SplitSeq(strings.TrimPrefix(b.text, "$ "), "\n$ ") {
		command, want, _ := strings.Cut(part, "\n")
		got := s.run(t, command, fails)
		if !shows(want, got) {
			t.Errorf("%s: %s\nprints:\n%s\nthe document shows:\n%s", b, command, got, want)
		}
	}
}

// squeeze makes one space of each run of them and drops those at the ends of lines.
func squeeze(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}
