/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// Run makes a fork of the checkout in the working directory.
func Run(ctx context.Context, args []string) error {
	a, err := Parse(args)
	if err != nil {
		return err
	}
	if err := command.RequireClean(ctx, "."); err != nil {
		return err
	}
	commit, err := command.Output(ctx, ".", "git", "rev-parse", "HEAD")
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
	err = a.build(ctx, strings.TrimSpace(commit), made)
	if err == nil {
		err = move(made, a.To)
	}
	if err != nil {
		return removed(made, err)
	}
	fmt.Fprintf(os.Stdout, done, a.Name, a.To, recordFile, a.To)
	return nil
}

const done = `
%s is in %s, as one commit. %s records the template's commit and your arguments. Next:

  cd %s
  make run                             # starts a cluster, the operator and the samples
  make verify && make test             # checks and tests all of it
  make kind KIND=Widget                # adds a kind
  make update                          # raises the versions of the template's modules
  make update-template FROM=TEMPLATE   # merges later commits of the template
`

// tidyOthers changes the requirements of modules that import generated clients, or that have less code than in the template.
const tidyOthers = `source hack/modules.sh; for module in "${all_modules[@]}"; do ` +
	`[[ "${module}" == hack/tools ]] || go -C "${module}" mod tidy; done`

// build makes the fork in an empty folder.
func (a Arguments) build(ctx context.Context, commit, root string) error {
	started := time.Now()
	report := func(step string) { fmt.Fprintf(os.Stderr, "fork: %2.0f s: %s\n", time.Since(started).Seconds(), step) }
	report("reading the files of commit " + commit[:12])
	all, err := committed(ctx, ".")
	if err != nil {
		return err
	}
	files, err := a.change(all)
	if err != nil {
		return err
	}
	if err := files.write(root); err != nil {
		return err
	}
	if err := (record{Commit: commit, Arguments: a.recorded()}).write(root); err != nil {
		return err
	}
	steps := [][]string{
		{"git", "init", "--quiet", "--initial-branch=main"},
		{"go", "-C", "hack/tools", "mod", "tidy"},
	}
	if !filepath.IsAbs(a.Modules) {
		// go.sum lacks the modules of the template. Some packages import clients that are generated next.
		steps = append(steps, []string{"go", "mod", "tidy", "-e"})
	}
	steps = append(steps,
		[]string{"make", "generate", "ARGS=kinds"},
		[]string{"bash", "-e", "-c", tidyOthers},
		[]string{"git", "add", "--all"},
	)
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
	if filepath.IsAbs(a.Modules) || !strings.Contains(err.Error(), oldModule) {
		return err
	}
	return fmt.Errorf("%w\nThe fork requires the modules of %s at %s. If the repository is private, set GOPRIVATE=%s. If it has no such version, "+
		"leave MODULES out: the fork then uses the modules of this checkout", err, oldModule, a.Modules, oldModule)
}

// change returns the files of the fork that are not generated.
func (a Arguments) change(all tree) (tree, error) {
	files := maps.Clone(all)
	if err := a.reduce(files); err != nil {
		return nil, err
	}
	files["README.md"] = file{[]byte(a.readme(files)), 0o644}
	files = newNames(a, files).renameAll(files)
	a.adaptLinters(files)
	files["hack/update.sh"] = file{updateScript, 0o755}
	a.addNotices(files)
	if err := a.requireModules(files, all); err != nil {
		return nil, err
	}
	return files, files.format()
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
