/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// Add adds a kind to the operator whose sources are in root, and generates its code. It changes no file if an option is invalid or a
// type breaks a rule of the generators.
func Add(ctx context.Context, root string, o Options, out io.Writer) error {
	m, err := newModel(root, o)
	if err != nil {
		return err
	}
	files, err := m.files()
	if err != nil {
		return err
	}
	for path := range files {
		if m.exists(path) {
			return fmt.Errorf("KIND=%s: %s exists; choose another name", o.Kind, path)
		}
	}
	edited, err := m.register()
	if err != nil {
		return err
	}
	maps.Copy(edited, files)
	if err := m.change(ctx, edited, out); err != nil {
		return err
	}
	fmt.Fprintf(out, `
%[1]s is added. Next:
  go test ./pkg/apis/%[2]s/... ./pkg/reconciler/%[3]s
      tests its types and its reconciler
  go test -count 1 ./test/%[3]s
      tests it on a control plane
  make run
      runs the operator; %[4]s is a sample
  make drop KIND=%[1]s FORCE=1
      removes it
`, m.Kind, m.API, m.Lower(), m.SampleFile)
	return nil
}

// change writes files, deletes those without content, and generates the code that depends on the kinds. If that fails, it restores the files.
func (p *project) change(ctx context.Context, contents map[string]string, out io.Writer) error {
	before := make(map[string]string, len(contents))
	for path := range contents {
		content, err := p.read(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		before[path] = content
	}
	maps.DeleteFunc(contents, func(path, content string) bool { return content != "" && content == before[path] })
	err := p.writeAll(contents, out)
	if err == nil {
		err = command.Run(ctx, p.root, out, out, "hack/update-codegen.sh", "kinds")
	}
	if err != nil {
		return errors.Join(err, p.writeAll(before, out))
	}
	return nil
}

func (p *project) writeAll(contents map[string]string, out io.Writer) error {
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		doing := "created"
		if p.exists(path) {
			doing = "changed"
		}
		if contents[path] == "" {
			doing = "deleted"
			p.remove(path)
		} else if err := p.write(path, contents[path]); err != nil {
			return err
		}
		fmt.Fprintln(out, doing, path)
	}
	return nil
}

// remove deletes a file and the folders that it leaves empty.
func (p *project) remove(path string) {
	for path != "." {
		if os.Remove(filepath.Join(p.root, path)) != nil {
			return
		}
		path = filepath.Dir(path)
	}
}

func newModel(root string, o Options) (*model, error) {
	p, err := readProject(root)
	if err != nil {
		return nil, err
	}
	if err := p.checkKind(o.Kind); err != nil {
		return nil, err
	}
	m := &model{project: p, Kind: o.Kind, Version: cmp.Or(o.Version, p.versions[0]), Cluster: o.Cluster}
	if !slices.Contains(p.versions, m.Version) {
		return nil, fmt.Errorf("VERSION=%s: the API has no such version; it has %s", m.Version, strings.Join(p.versions, ", "))
	}
	if err := p.checkFree(o.Kind, m.Version); err != nil {
		return nil, err
	}
	owned, ok := children[cmp.Or(o.Owns, "v1.ConfigMap")]
	if !ok {
		return nil, fmt.Errorf("OWNS=%s: must be one of %s", o.Owns, strings.Join(slices.Sorted(maps.Keys(children)), ", "))
	}
	m.Child = owned
	if m.Accessor, err = p.accessor(m.Version); err != nil {
		return nil, err
	}
	if m.SampleFile, err = p.sampleFile(m.Lower()); err != nil {
		return nil, err
	}
	if owned.External {
		m.SampleFile = "test/" + m.Lower() + "/sample.yaml" // it is Ready only with a service
	}
	return m, nil
}

// pages is the folder of the page of each kind.
const pages = "docs/reference/api"

// sampleFile is the path of the kind's sample, which is applied after all others.
func (p *project) sampleFile(lower string) (string, error) {
	const step, first = 100, 100
	number := first
	samples, err := filepath.Glob(filepath.Join(p.root, "samples/*.yaml"))
	if err != nil {
		return "", fmt.Errorf("listing the samples: %w", err)
	}
	for _, sample := range samples {
		prefix, _, _ := strings.Cut(filepath.Base(sample), "-")
		if n, err := strconv.Atoi(prefix); err == nil && n >= number {
			number = (n/step + 1) * step
		}
	}
	return fmt.Sprintf("samples/%d-%s.yaml", number, lower), nil
}
