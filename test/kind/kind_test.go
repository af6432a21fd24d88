/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	root = "../.."
	// commandTimeout bounds each command.
	commandTimeout = 20 * time.Minute
	guide          = "docs/how-to/add-a-kind.md"
)

// block is a block of commands of the guide.
var block = regexp.MustCompile("(?s)```sh shown-by=test/kind:\\w+\n(.*?)```")

func TestMakeKind_CommandsOfTheGuide_Work(t *testing.T) {
	copied := newCheckout(t)
	content, err := os.ReadFile(filepath.Join(root, guide))
	if err != nil {
		t.Fatal(err)
	}
	output := map[string]string{}
	run := func(command string) { output[command] = copied.run(t, command) }
	for _, commands := range block.FindAllStringSubmatch(string(content), -1) {
		for command := range strings.Lines(commands[1]) {
			command = strings.TrimSpace(command)
			if strings.HasPrefix(command, "make drop ") {
				copied.checkKinds(t)
			}
			run(command)
			if command == "make kind KIND=Widget" {
				copied.commit(t)
			}
		}
	}
	ready := output["make run WAIT=ready"]
	for _, sample := range []string{"widget/hello", "gadget/hello"} {
		if !regexp.MustCompile(sample + `\s+READY=True`).MatchString(ready) {
			t.Errorf("make run does not print that %s is Ready:\n%s", sample, ready)
		}
	}
	copied.expectClean(t, "HEAD")

	// A change that is not committed is not lost.
	const types = "pkg/apis/samples/v1/widget_types.go"
	copied.run(t, "echo '// changed' >>"+types)
	copied.reject(t, "make drop KIND=Widget", "have changes that are not committed", types, "FORCE=1")
	copied.run(t, "make drop KIND=Widget FORCE=1")
	copied.expectClean(t, "HEAD~1")
}

// checkKinds checks the kinds as make verify and make test do, which take longer: they check everything else, too.
func (c checkout) checkKinds(t *testing.T) {
	t.Helper()
	c.run(t, "make verify ARGS='format shell repository'")
	c.run(t, `"$(go -C hack/tools/lint tool -n golangci-lint)" run --allow-parallel-runners --config .golangci.yaml \
		./cmd/controller ./pkg/apis/... ./pkg/reconciler/{widget,gadget} ./test/{widget,gadget,permissions}`)
	c.run(t, "go test -vet=off ./pkg/reconciler/gadget ./pkg/webhook ./test/gadget")
	c.run(t, "go test -vet=off ./test/permissions -run 'TestPermissions|TestSecurityPage'")
	c.run(t, "go test -vet=off ./test/docs -run 'TestCommands_EachDocument_PrintWhatItShows/docs/reference/api/(widget|gadget).md|TestLinks|TestPages'")
}

func TestMakeKind_InvalidVariable_ChangesNothing(t *testing.T) {
	copied := newCheckout(t)
	copied.reject(t, "make kind KIND=Widget OWNS=v1.Event", "OWNS=v1.Event: must be one of", "apps/v1.Deployment")
	copied.reject(t, "make kind KIND=Widget VERSION=v9", "VERSION=v9: the API has no such version; it has")
	copied.reject(t, "make drop KIND=Widget", "KIND=Widget: cmd/controller/main.go does not construct a reconciler of this kind")
	copied.expectClean(t, "HEAD")
}

// checkout is a copy of the repository.
type checkout struct{ dir string }

// newCheckout copies the repository as it is, committed or not.
func newCheckout(t *testing.T) checkout {
	t.Helper()
	from, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	c := checkout{t.TempDir()}
	c.run(t, "git clone --quiet --local '"+from+"' .")
	original := checkout{from}
	changed := original.run(t, "git diff --name-only --no-renames HEAD; git ls-files --others --exclude-standard")
	for path := range strings.FieldsSeq(changed) {
		to := filepath.Join(c.dir, path)
		info, err := os.Stat(filepath.Join(from, path))
		if errors.Is(err, fs.ErrNotExist) {
			err = os.RemoveAll(to)
		} else if err == nil {
			var content []byte
			content, err = os.ReadFile(filepath.Join(from, path))
			err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o750), os.WriteFile(to, content, info.Mode()), os.Chmod(to, info.Mode()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.commit(t)
	return c
}

func (c checkout) try(t *testing.T, command string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-o", "errexit", "-o", "pipefail", "-c", command)
	cmd.Dir, cmd.WaitDelay = c.dir, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c checkout) run(t *testing.T, command string) string {
	t.Helper()
	started := time.Now()
	out, err := c.try(t, command)
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	t.Logf("%s: %s", command, time.Since(started).Round(time.Second))
	return out
}

// reject expects a command to fail and to print these parts.
func (c checkout) reject(t *testing.T, command string, parts ...string) {
	t.Helper()
	out, err := c.try(t, command)
	if err == nil {
		t.Fatalf("%s succeeds:\n%s", command, out)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("%s does not print %q:\n%s", command, part, out)
		}
	}
}

func (c checkout) commit(t *testing.T) {
	t.Helper()
	c.run(t, "git add --all && git -c user.name=test -c user.email=test@example.com commit --quiet --allow-empty --message commit")
}

// expectClean expects the files of a commit and no others.
func (c checkout) expectClean(t *testing.T, commit string) {
	t.Helper()
	c.run(t, "git add --all")
	if difference := c.run(t, "git diff --cached --stat "+commit); difference != "" {
		t.Errorf("the files differ from %s:\n%s", commit, difference)
	}
}
