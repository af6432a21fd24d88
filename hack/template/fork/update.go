/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// Update merges the commit REF, by default the last one, of the template in the repository FROM into the fork in the working directory. The template's
// program makes the fork again, from the recorded commit and from the new one, and git merges the difference of the two into the fork.
func Update(ctx context.Context, args []string) error {
	variables, err := command.Variables(args, "FROM", "REF")
	if err != nil {
		return err
	}
	if variables["FROM"] == "" {
		return errors.New("FROM is not set: it names the repository of the template, by its path or its URL")
	}
	recorded, err := readRecord(".")
	if err != nil {
		return err
	}
	if err := command.RequireClean(ctx, "."); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "update-template-")
	if err != nil {
		return fmt.Errorf("updating: %w", err)
	}
	err = update{scratch, recorded}.run(ctx, variables["FROM"], cmp.Or(variables["REF"], "HEAD"))
	return errors.Join(err, os.RemoveAll(scratch))
}

// update of a fork, with a folder for files that it needs only while it runs.
type update struct {
	scratch  string
	recorded record
}

func (u update) run(ctx context.Context, from, ref string) error {
	template := filepath.Join(u.scratch, "template")
	report("cloning the template")
	if _, err := command.Output(ctx, ".", "git", "clone", "--quiet", from, template); err != nil {
		return fmt.Errorf("FROM=%s: %w", from, err)
	}
	newest, err := resolve(ctx, template, ref)
	if err != nil {
		return err
	}
	if newest == u.recorded.Commit {
		report("this fork is already at commit " + newest[:12] + " of the template")
		return nil
	}
	before, err := u.fork(ctx, template, u.recorded.Commit, "before")
	if err != nil {
		return err
	}
	after, err := u.fork(ctx, template, newest, "after")
	if err != nil {
		return err
	}
	base, err := commit(ctx, before, "The template at commit "+u.recorded.Commit)
	if err != nil {
		return err
	}
	next, err := commit(ctx, after, "Update the template to commit "+newest[:12], "-p", base)
	if err != nil {
		return err
	}
	report("merging")
	if _, err := command.Output(ctx, ".", "git", "cherry-pick", next); err != nil {
		return fmt.Errorf("%w\nResolve the conflicts, then: git add --all && git cherry-pick --continue\nOr give up: git cherry-pick --abort", err)
	}
	report("this fork is now at commit " + newest[:12] + " of the template. Next: make generate && make verify")
	return nil
}

// resolve returns the hash of a commit of the template, which may be on a branch of the clone's origin.
func resolve(ctx context.Context, template, ref string) (string, error) {
	for _, name := range []string{"origin/" + ref, ref} {
		if hash, err := command.Output(ctx, template, "git", "rev-parse", "--verify", "--quiet", name+"^{commit}"); err == nil {
			return strings.TrimSpace(hash), nil
		}
	}
	return "", fmt.Errorf("REF=%s must be a branch, a tag or a commit of the template", ref)
}

// fork has the program of a commit of the template make the fork with the recorded arguments. It returns the fork's tree, which it adds to
// the objects of this repository.
func (u update) fork(ctx context.Context, template, hash, name string) (tree string, err error) {
	report("making the fork of commit " + hash[:12] + " of the template")
	if _, err := command.Output(ctx, template, "git", "checkout", "--quiet", hash); err != nil {
		return "", fmt.Errorf("the template's repository must have the commit %s: %w", hash, err)
	}
	program := filepath.Join(u.scratch, name+"-program")
	if _, err := command.Output(ctx, template, "go", "build", "-o", program, "./hack/template"); err != nil {
		return "", err
	}
	made := filepath.Join(u.scratch, name)
	args := []string{"fork", "TO=" + made}
	for variable, value := range u.recorded.Arguments {
		if variable == "MODULES" {
			value = template // of the same commit, and equal in both forks; what the fork requires stays
		}
		args = append(args, variable+"="+value)
	}
	slices.Sort(args[1:])
	if _, err := command.Output(ctx, template, program, args...); err != nil {
		return "", err
	}
	if _, err := command.Output(ctx, ".", "git", "fetch", "--quiet", "--no-tags", made, "HEAD"); err != nil {
		return "", err
	}
	tree, err = command.Output(ctx, ".", "git", "rev-parse", "FETCH_HEAD^{tree}")
	return strings.TrimSpace(tree), err
}

func commit(ctx context.Context, tree, message string, args ...string) (string, error) {
	hash, err := command.Output(ctx, ".", "git", append([]string{"commit-tree", tree, "-m", message}, args...)...)
	return strings.TrimSpace(hash), err
}

func report(step string) { fmt.Fprintln(os.Stderr, "update-template:", step) }
