/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/record"
)

// Run generates the files of the APIs whose packages the arguments name. If it returns an error, nothing has been written for any of them, and
// the error contains all problems of all of them. Otherwise a line about each version and the next one is printed.
func Run(a *args.Args, out io.Writer) error { return runWithin(a, generators.MaxLines, out) }

// runWithin divides files that have more lines than allowed.
func runWithin(a *args.Args, maxLines int, out io.Writer) error {
	if err := a.Validate(); err != nil {
		return err
	}
	header, err := a.Header()
	if err != nil {
		return err
	}
	apis, err := Load(a.InputDirs)
	if err != nil {
		return err
	}
	if len(apis) > 1 {
		if err := a.ValidateSeveral(); err != nil {
			return err
		}
	}
	outputs := make([]*output, len(apis))
	problems := make([]error, len(apis))
	for i, packages := range apis {
		outputs[i], problems[i] = newOutput(a, packages, generators.Layout{Header: header, MaxLines: maxLines})
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if err := writeAll(outputs); err != nil {
		return err
	}
	for _, o := range outputs {
		if _, err := io.WriteString(out, record.Summary(o.plan, model.Relative(o.report))); err != nil {
			return fmt.Errorf("printing the summary: %w", err)
		}
	}
	return nil
}

// output holds what is written for an API, and where.
type output struct {
	plan         *plan.Plan
	layout       generators.Layout
	report, lock string
	// earlier is the content of the lock before. If release is set, all entries of the lock are released.
	earlier string
	release bool
}

// newOutput plans the conversions of an API. The error, if any, holds all problems.
func newOutput(a *args.Args, packages []*model.Package, layout generators.Layout) (*output, error) {
	all, err := plan.Make(packages, a.Interface, a.Kinds...)
	if err != nil {
		return nil, err
	}
	root := filepath.Dir(all.Hub.Package.Dir)
	if a.RoundTripDir != "" {
		layout.RoundTripDir = filepath.Join(root, a.RoundTripDir)
		layout.RoundTripPackage = path.Join(path.Dir(all.Hub.Package.Path), filepath.ToSlash(a.RoundTripDir))
		if layout.Report, err = filepath.Rel(a.RoundTripDir, record.ReportFile); err != nil {
			return nil, fmt.Errorf("finding the report from the tests: %w", err)
		}
	}
	o := &output{plan: all, layout: layout, report: filepath.Join(root, record.ReportFile), lock: filepath.Join(root, record.LockFile), release: a.Release}
	return o, o.useLock()
}

// useLock keeps what released objects carry, and checks that nothing of it is missing.
func (o *output) useLock() error {
	earlier, err := os.ReadFile(o.lock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the lock of released bag keys: %w", err)
	}
	o.earlier = string(earlier)
	record.KeepKeys(o.plan, o.earlier)
	return record.CheckLock(o.plan, model.Relative(o.lock), o.earlier)
}

// writeAll has the files of all APIs written next to their places, and then moved to them.
func writeAll(outputs []*output) (err error) {
	m := &move{kept: make(map[string]bool)}
	defer func() { err = errors.Join(err, m.clean()) }()
	var folders []string
	for _, o := range outputs {
		if err := o.write(m); err != nil {
			return err
		}
		folders = append(folders, o.folders()...)
	}
	return m.do(folders)
}

func (o *output) write(m *move) error {
	files, err := generators.Files(o.plan, o.layout)
	if err != nil {
		return fmt.Errorf("writing Go code: %w", err)
	}
	for _, each := range files {
		m.add(each.Path, each.Content)
	}
	m.add(o.report, []byte(record.Report(o.plan)))
	m.add(o.lock, []byte(record.Lock(o.plan, o.earlier, o.release)))
	return nil
}

// folders are those in which an earlier run may have left files that this one does not write.
func (o *output) folders() []string {
	var folders []string
	for _, version := range o.plan.Versions {
		folders = append(folders, version.Package.Dir, filepath.Join(version.Package.Dir, "storage"))
	}
	if o.layout.RoundTripDir != "" {
		folders = append(folders, o.layout.RoundTripDir)
	}
	return folders
}
