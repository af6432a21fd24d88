/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/test/moduleproxy"
)

const (
	generatorPage = "docs/tutorial/second-version.md"
	// example is the project that the page ends with.
	example = "conversion/example"
	// exampleTest is what the blocks of the page name.
	exampleTest = "test/docs:TestProject_SecondVersionTutorial_WorksInAnEmptyFolder"
)

// TestProject_SecondVersionTutorial_WorksInAnEmptyFolder does what the page about assign-gen says, block for block, in an empty folder
// outside of this checkout, with the modules of conversions from a module proxy:
//
//	sh, console    are run; one that says fails has to
//	writes=PATH    becomes that file
//	file=PATH      stands word for word in that file of the example, which then becomes that file
//
// What is there at the end is the example, so that the page leaves nothing out.
func TestProject_SecondVersionTutorial_WorksInAnEmptyFolder(t *testing.T) {
	_, environment := moduleproxy.New(t, root, "conversion", "conversion/knative", "conversion/cmd/assign-gen")
	p := &project{dir: t.TempDir(), environment: environment}
	for _, b := range blocks(t, generatorPage) {
		if b.attributes["shown-by"] != exampleTest {
			continue
		}
		_, fails := b.attributes["fails"]
		switch {
		case b.kind == "sh":
			p.run(t, b, b.text, false)
		case b.kind == "console":
			for part := range strings.SplitSeq(strings.TrimPrefix(b.text, "$ "), "\n$ ") {
				command, want, _ := strings.Cut(part, "\n")
				if got := p.run(t, b, command, fails); !shows(want, got) {
					t.Fatalf("%s: %s\nprints:\n%s\nthe document shows:\n%s", b, command, got, want)
				}
			}
		case b.attributes["writes"] != "":
			p.write(t, b.attributes["writes"], b.text)
		case b.attributes["file"] != "":
			content := read(t, filepath.Join(example, b.attributes["file"]))
			if !strings.Contains(content, b.text) {
				t.Fatalf("%s: the block does not stand in %s of %s", b, b.attributes["file"], example)
			}
			p.write(t, b.attributes["file"], content)
		default:
			t.Fatalf("%s: what is to be done with it?", b)
		}
	}
	p.expectExample(t)
}

// project is a folder in which somebody who has never seen this checkout works.
type project struct {
	dir string
	// environment has the go command find modules of this checkout in a module proxy.
	environment []string
}

// run runs a script as a reader would, and returns what it prints.
func (p *project) run(t *testing.T, b block, script string, fails bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-e", "-u", "-o", "pipefail", "-c", script)
	command.Dir = p.dir
	command.Env = append(os.Environ(), p.environment...)
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	if (err != nil) != fails {
		t.Fatalf("%s: %v\n%s\n%s", b, err, script, out)
	}
	return string(out)
}

func (p *project) write(t *testing.T, path, content string) {
	t.Helper()
	path = filepath.Join(p.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// expectExample compares the project with the example, but for comments about packages and the license.
func (p *project) expectExample(t *testing.T) {
	t.Helper()
	folder := filepath.Join(root, example)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "go.mod" || entry.Name() == "go.sum" || entry.Name() == "doc.go" {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(p.dir, relative))
		if err != nil {
			t.Errorf("the page does not lead to %s of %s: %v", relative, example, err)
		} else if want := read(t, filepath.Join(example, relative)); withoutLicense(string(got)) != withoutLicense(want) {
			t.Errorf("what the page leads to is another %s than that of %s:\n%s", relative, example, got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// withoutLicense is a file without the comment that begins each of ours.
func withoutLicense(content string) string {
	before, comment, _ := strings.Cut(content, "/*\nCopyright")
	_, after, found := strings.Cut(comment, "*/\n")
	if !found {
		return content
	}
	return before + strings.TrimPrefix(after, "\n")
}
