/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/crud/hook/shell"
)

// TestMain makes the test binary a shell, as a main function does.
func TestMain(m *testing.M) {
	hook.Main()
	shell.Main()
	os.Exit(m.Run())
}

// environment is one in which no program exists.
func environment(t *testing.T) []string {
	t.Helper()
	return []string{"PATH=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
}

func TestShell_ImageWithoutPrograms_RunsWhatHooksConsistOf(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"HereDocument":    {"cat <<EOF\na: $1\nEOF", "a: one\n"},
		"QuotedDocument":  {"cat <<'EOF'\n$1 \\n\nEOF", "$1 \\n\n"},
		"FunctionOfCRUD":  {`crud::greet() { printf '%s!\n' "$@"; }; crud::greet "a b" '"'`, "a b!\n\"!\n"},
		"Condition":       {`if [[ $1 == "one" && -z ${MISSING:-} ]]; then echo yes; fi`, "yes\n"},
		"Array":           {`list=(a "b c"); for item in "${list[@]}"; do echo "<$item>"; done`, "<a>\n<b c>\n"},
		"JQ":              {`jq -r '.[] | .name' <<< '[{"name": "a"}, {"name": "b c"}]'`, "a\nb c\n"},
		"Pipe":            {`printf '%s\n' x y | while read -r line; do echo "$line$line"; done`, "xx\nyy\n"},
		"Substitution":    {`value=$(jq -r .a <<< '{"a": "ü$"}'); echo "${value}"`, "ü$\n"},
		"TemporaryFile":   {`f=$(mktemp); echo text > "$f"; cat "$f"; rm "$f"`, "text\n"},
		"Append":          {`printf 'a\n' >> "$TMPDIR/f"; printf 'b\n' >> "$TMPDIR/f"; cat "$TMPDIR/f"`, "a\nb\n"},
		"Source":          {`echo 'f() { echo sourced; }' > "$TMPDIR/lib"; source "$TMPDIR/lib"; f`, "sourced\n"},
		"ParameterExpand": {`name=a/b; echo "${name#*/} ${name%/*} ${name^^}"`, "b a A/B\n"},
	} {
		t.Run(name, func(t *testing.T) {
			script := filepath.Join(t.TempDir(), "hook")
			if err := os.WriteFile(script, []byte("#!/missing/bash\nset -eu\n"+test.script), 0o700); err != nil {
				t.Fatal(err)
			}
			command, err := shell.Command(script)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], "one")...)
			cmd.Env = environment(t)
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != test.want {
				t.Errorf("got %q, %v, want %q", out, err, test.want)
			}
		})
	}
}

// TestFunctions_MachineWithoutJQ_HookHasIt runs the same pipeline in bash, on a machine that has nothing else, and in the shell of this package.
func TestFunctions_MachineWithoutJQ_HookHasIt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string][]string{"Bash": {bash}, "OfThisPackage": {self, "hook-shell", "bash"}} {
		t.Run(name, func(t *testing.T) {
			script := `source ../crud.sh; echo '{"a": "b c"}' | jq -r --arg d e '.a + $d'; jq -n '"' || echo "exit status $?"`
			cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], "-c", script)...)
			cmd.Env = append(environment(t), "CRUD_PROGRAM="+self)
			out, err := cmd.Output()
			if want := "b ce\nexit status 3\n"; err != nil || string(out) != want {
				t.Errorf("got %q, %v, want %q", out, err, want)
			}
		})
	}
}

func TestShell_Failures_HaveExitStatusAndMessage(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"Exit":    {[]string{"-c", "exit 3"}, 3, ""},
		"Errexit": {[]string{"-c", "set -e; cat /missing; echo on"}, 1, "/missing"},
		"Unknown": {[]string{"-c", "frobnicate"}, 127, "frobnicate"},
		"Syntax":  {[]string{"-c", "if"}, 1, "bash:1:1"},
		"NoFile":  {[]string{"/missing"}, 1, "reading the script"},
		"Flag":    {[]string{"--posix"}, 1, "use FILE ARGUMENT"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), self, append([]string{"hook-shell", "bash"}, test.args...)...)
			cmd.Env = environment(t)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != test.status || !strings.Contains(string(out), test.want) {
				t.Errorf("exit status %d and %q, want %d and %q", cmd.ProcessState.ExitCode(), out, test.status, test.want)
			}
		})
	}
}

func TestCommand_InterpreterExists_IsPreferred(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	existing := filepath.Join(t.TempDir(), "bash")
	if err := os.WriteFile(existing, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		content string
		want    []string // before the path
	}{
		"Exists":         {"#!" + existing + "\n", nil},
		"Missing":        {"#!/missing/bash\n", []string{self, "hook-shell", "bash"}},
		"MissingByEnv":   {"#!/usr/bin/env missing-bash\n", nil},
		"NoShell":        {"#!/missing/python3\n", nil},
		"NoScript":       {"\x7fELF\n", nil},
		"WithArguments":  {"#! /missing/sh\n", []string{self, "hook-shell", "sh"}},
		"WithoutNewline": {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hook")
			if err := os.WriteFile(path, []byte(test.content), 0o700); err != nil {
				t.Fatal(err)
			}
			got, err := shell.Command(path)
			if err != nil || !slices.Equal(got, append(test.want, path)) {
				t.Errorf("got %q, %v, want %q before the path", got, err, test.want)
			}
		})
	}
}
