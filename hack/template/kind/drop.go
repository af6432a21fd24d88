/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
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
	if !kindPattern.MatchString(o.Kind) {
		return fmt.Errorf("KIND=%s: must be a kind of this operator in CamelCase, such as Widget", o.Kind)
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
		p.remove(path)
		fmt.Fprintln(out, "deleted", path)
	}
	p.remove(rendered(strings.ToLower(o.Kind)))
	if err := p.writeAll("changed", edited, out); err != nil {
		return err
	}
	return p.generate(ctx, out)
}

// filesOf returns the files of a kind, which have its name.
func (p *project) filesOf(lower string, all []string) []string {
	own := regexp.MustCompile(`^(pkg/apis/` + p.API + `/(` + lower + `|(` + strings.Join(p.versions, "|") + `)/` + lower + `_\w+)\.go|` +
		`(pkg/reconciler|test)/` + lower + `/.*|test/permissions/` + lower + `_test\.go|` +
		`(config|samples)/[0-9]+-` + lower + `(-[^/]*)?\.yaml|` + pages + `/` + lower + `\.md)$`)
	files := slices.DeleteFunc(slices.Clone(all), func(path string) bool { return !own.MatchString(path) || !p.exists(path) })
	slices.Sort(files)
	return slices.Compact(files)
}

// checkDrop fails if the kind does not exist, other files need it, or changes would be lost.
func (p *project) checkDrop(ctx context.Context, o Options, files []string) error {
	lower := strings.ToLower(o.Kind)
	kinds, err := p.registered()
	if err != nil {
		return err
	}
	if !slices.Contains(kinds, lower) || !slices.Contains(files, "pkg/reconciler/"+lower+"/controller.go") {
		return fmt.Errorf("KIND=%s: %s does not construct a reconciler of this kind; the kinds are %s", o.Kind, constructors, strings.Join(kinds, ", "))
	}
	others, err := p.uses(ctx, o.Kind, files)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("KIND=%s: these files need it; remove it from them first:\n%s", o.Kind, strings.Join(others, "\n"))
	}
	if o.Force {
		return nil
	}
	changed, err := p.changed(ctx, lower, files)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("KIND=%s: these files have changes that are not committed; commit them, or lose them with FORCE=1:\n%s",
			o.Kind, strings.Join(changed, "\n"))
	}
	return nil
}

// uses returns the files of other packages and kinds that would not compile without a kind, and the manifests of its objects.
func (p *project) uses(ctx context.Context, kind string, files []string) ([]string, error) {
	names := kind + `(List|Spec|Status|Reference|LabelKey|RefAnnotationKey|FinalizerName|(Condition|Reason|Default)[A-Za-z]+)?\b`
	packages := strings.Join(append(slices.Clone(p.versions), p.APIPackage), "|")
	var others []string
	for _, search := range [][]string{
		{`\b(` + packages + `)\.` + names + `|"` + p.Module + "/pkg/reconciler/" + strings.ToLower(kind) + `"|\)\.` + pluralOf(kind) + `\(`, "*.go"},
		{`\b` + names, "pkg/apis/" + p.API + "/*.go"},
		{"^kind: " + kind + "$", "samples/*.yaml"},
	} {
		found, err := p.git(ctx, "grep", "-lE", "--untracked", search[0], "--", search[1], ":!pkg/client", ":!*/zz_generated*", ":!"+constructors)
		if err != nil {
			return nil, err
		}
		others = append(others, slices.DeleteFunc(strings.Fields(found), func(path string) bool {
			return slices.Contains(files, path) || !p.refersTo(path, kind)
		})...)
	}
	slices.Sort(others)
	return slices.Compact(others), nil
}

// refersTo reports whether a file is in the API or imports it, or the reconciler of a kind, or has an object of the kind. Other APIs may have a
// kind of the same name.
func (p *project) refersTo(path, kind string) bool {
	content, err := p.read(path)
	api := "pkg/apis/" + p.API
	return err == nil && (strings.HasPrefix(path, api+"/") || strings.Contains(content, `"`+p.Module+"/"+api) ||
		strings.Contains(content, `"`+p.Module+"/pkg/reconciler/"+strings.ToLower(kind)+`"`) ||
		regexp.MustCompile(`(?m)^apiVersion: `+regexp.QuoteMeta(p.Group)+`/\w+\nkind: `+kind+`$`).MatchString(content))
}

// changed returns the files that git would lose, except for generated ones and those that make kind has rendered and that are as it left them.
func (p *project) changed(ctx context.Context, lower string, files []string) ([]string, error) {
	status, err := p.git(ctx, append([]string{"status", "--porcelain", "--untracked-files=all", "--"}, files...)...)
	if err != nil {
		return nil, err
	}
	sums, err := p.read(rendered(lower))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var changed []string
	for line := range strings.Lines(status) {
		path := strings.TrimSpace(line[len("?? "):])
		content, err := p.read(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !strings.Contains(content, "# Code generated ") && !strings.Contains(sums, sumLine(path, content)) {
			changed = append(changed, strings.TrimRight(line, "\n"))
		}
	}
	return changed, nil
}

// rendered is the file, outside of git, with the sums of the files that make kind has rendered.
func rendered(lower string) string { return ".cache/kinds/" + lower }

func sumLine(path, content string) string {
	return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(content)), path)
}

func (p *project) git(ctx context.Context, args ...string) (string, error) {
	out, err := command.Output(ctx, p.root, "git", args...)
	if failure, ok := errors.AsType[*exec.ExitError](err); ok && args[0] == "grep" && failure.ExitCode() == 1 {
		return "", nil // no file matches
	}
	return out, err
}
