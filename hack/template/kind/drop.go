/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// Drop removes a kind from the operator whose sources are in root, and generates the code without it. It deletes no file with changes that are
// not committed, unless the options force it.
func Drop(ctx context.Context, root string, o Options, out io.Writer) error {
	p, err := readProject(root)
	if err != nil {
		return err
	}
	if err := p.checkRegistered(o.Kind); err != nil {
		return err
	}
	all, err := p.git(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	files := p.filesOf(strings.ToLower(o.Kind), strings.Split(all, "\x00"))
	if err := p.checkDrop(ctx, o, files); err != nil {
		return err
	}
	edited, err := p.unregister(o.Kind)
	if err != nil {
		return err
	}
	for _, path := range files {
		edited[path] = ""
	}
	return p.change(ctx, edited, out)
}

// filesOf returns the files of a kind, which have its name.
func (p *project) filesOf(lower string, all []string) []string {
	own := regexp.MustCompile(`^(pkg/apis/` + p.API + `/(` + lower + `|v\w+/` + lower + `_\w+)\.go|` +
		`(pkg/reconciler|test)/` + lower + `/.*|test/permissions/` + lower + `_test\.go|` +
		`(config|kustomize/overlays/\w+|samples)/[0-9]+-` + lower + `(-[^/]*)?\.yaml|` + pages + `/` + lower + `\.md)$`)
	files := slices.DeleteFunc(slices.Clone(all), func(path string) bool { return !own.MatchString(path) || !p.exists(path) })
	slices.Sort(files)
	return slices.Compact(files)
}

// checkRegistered fails if the controller has no reconciler of the kind.
func (p *project) checkRegistered(kind string) error {
	kinds, err := p.registered()
	if err == nil && (!kindPattern.MatchString(kind) || !slices.Contains(kinds, strings.ToLower(kind))) {
		err = fmt.Errorf("KIND=%s: %s does not construct a reconciler of this kind in CamelCase; the kinds are %s",
			kind, constructors, strings.Join(kinds, ", "))
	}
	return err
}

// checkDrop fails if changes would be lost.
func (p *project) checkDrop(ctx context.Context, o Options, files []string) error {
	if o.Force {
		return nil
	}
	changed, err := p.git(ctx, append([]string{"status", "--porcelain", "--untracked-files=all", "--"}, files...)...)
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("KIND=%s: these files have changes that are not committed; commit them, or lose them with FORCE=1:\n%s",
			o.Kind, strings.TrimRight(changed, "\n"))
	}
	return nil
}

func (p *project) git(ctx context.Context, args ...string) (string, error) {
	return command.Output(ctx, p.root, "git", args...)
}
