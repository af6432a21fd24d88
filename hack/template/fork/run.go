/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"

	"github.com/mallard-dev/mallard/hack/template/command"
	"github.com/mallard-dev/mallard/hack/template/record"
)

// Run makes a fork of the checkout in the working directory.
func Run(ctx context.Context, args []string) error {
	a, err := Parse(args)
	if err != nil {
		return err
	}
	commit, err := base(ctx, ".")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(a.To), 0o755); err != nil {
		return fmt.Errorf("TO=%s: %w", a.To, err)
	}
	made, err := os.MkdirTemp(filepath.Dir(a.To), "."+filepath.Base(a.To)+"-")
	if err != nil {
		return fmt.Errorf("TO=%s: %w", a.To, err)
	}
	err = a.build(ctx, commit, made)
	if err == nil {
		err = move(made, a.To)
	}
	if err != nil {
		return removed(made, err)
	}
	fmt.Fprintf(os.Stdout, done, a.Name, a.To, record.File, a.To)
	return nil
}

const done = `
%s is in %s, as one commit. %s records the template's commit and your arguments. Next:

  cd %s
  make run                             # starts a cluster, the operator and the samples
  make verify && make test             # checks and tests all of it
  make kind KIND=Widget                # adds a kind
  make update-template FROM=TEMPLATE   # merges later commits of the template
`

// commit of the template.
type commit struct {
	hash string
	// version of the template's modules at the commit.
	version string
}

func base(ctx context.Context, template string) (commit, error) {
	changed, err := command.Output(ctx, template, "git", "status", "--porcelain")
	if err != nil {
		return commit{}, err
	}
	if changed != "" {
		return commit{}, fmt.Errorf("the template's checkout has changes, and a fork is made of a commit. Commit or stash:\n%s", changed)
	}
	described, err := command.Output(ctx, template, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return commit{}, err
	}
	var hash string
	var seconds int64
	if _, err := fmt.Sscan(described, &hash, &seconds); err != nil {
		return commit{}, fmt.Errorf("reading the template's commit: %w", err)
	}
	return commit{hash, module.PseudoVersion("v0", "", time.Unix(seconds, 0).UTC(), hash[:12])}, nil
}

// build makes the fork in an empty folder.
func (a Arguments) build(ctx context.Context, from commit, root string) error {
	report("reading the files of commit " + from.hash[:12])
	files, err := committed(ctx, ".")
	if err != nil {
		return err
	}
	if err := a.change(files, from); err != nil {
		return err
	}
	files = newNames(a, files).renameAll(files)
	if err := updateChecksums(files); err != nil {
		return err
	}
	if err := files.write(root); err != nil {
		return err
	}
	if err := (record.Record{Commit: from.hash, Arguments: a.recorded()}).Write(root); err != nil {
		return err
	}
	steps := [][]string{
		{"gofmt", "-w", "."},
		{"git", "init", "--quiet", "--initial-branch=main"},
		{"go", "mod", "tidy", "-e"},        // some packages import clients that are generated next
		{"make", "generate", "ARGS=kinds"}, // the rest of the generated code was renamed
		{"bash", "-e", "-c", `source hack/modules.sh; for module in "${all_modules[@]}"; do go -C "${module}" mod tidy; done`},
		{"git", "add", "--all"},
	}
	for _, step := range steps {
		report(strings.Join(step, " "))
		if _, err := command.Output(ctx, root, step[0], step[1:]...); err != nil {
			return a.withRemedy(err)
		}
	}
	return commitAll(ctx, root, a.Name)
}

// withRemedy adds the remedy to the error of a step that could not download a module of the template.
func (a Arguments) withRemedy(err error) error {
	if len(a.required()) == 0 || !strings.Contains(err.Error(), oldModule+"/") {
		return err
	}
	return fmt.Errorf("%w\nWithout %s, the fork requires modules of %s at the commit that it is made of. Push the commit; if the "+
		"repository is private, set GOPRIVATE=%s. Otherwise keep these products", err, strings.Join(a.required(), " and "), oldModule, oldModule)
}

// change removes files and lines.
func (a Arguments) change(files tree, from commit) error {
	if err := a.reduce(files); err != nil {
		return err
	}
	files.remove("pkg/client", files) // it is generated
	linkToTemplate(files)
	if a.reduced() {
		files["README.md"] = file{[]byte(a.readme(files)), 0o644}
	}
	a.requireLibraries(files, from.version)
	return nil
}

func commitAll(ctx context.Context, root, name string) error {
	args := []string{"commit", "--quiet", "--message", "Start " + name + " from its template"}
	if _, err := command.Output(ctx, root, "git", "var", "GIT_COMMITTER_IDENT"); err != nil {
		args = append([]string{"-c", "user.name=" + name, "-c", "user.email=" + strings.ToLower(name) + "@localhost"}, args...)
	}
	_, err := command.Output(ctx, root, "git", args...)
	return err
}

// move renames the complete fork to the requested folder, which may exist if it is empty.
func move(made, to string) error {
	if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("replacing the empty folder: %w", err)
	}
	return errors.Join(os.Chmod(made, 0o755), os.Rename(made, to))
}

// removed deletes what there is of a fork. Commands that were killed may still write until they have ended.
func removed(made string, reason error) error {
	var err error
	for range 10 {
		if err = os.RemoveAll(made); err == nil {
			return fmt.Errorf("%w; nothing is left of the fork", reason)
		}
	}
	return fmt.Errorf("%w; %s has to be removed: %w", reason, made, err)
}

func report(step string) { fmt.Fprintln(os.Stderr, "fork:", step) }
