/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"k8s.io/gengo/v2/generator"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/record"
)

// Run generates the files that the arguments select. If it returns an error, nothing has been written, and the error contains all problems
// of the API.
func Run(a *args.Args) error { return runWithin(a, generators.MaxLines) }

// runWithin divides files that have more lines than allowed.
func runWithin(a *args.Args, maxLines int) error {
	if err := a.Validate(); err != nil {
		return err
	}
	header, err := a.Header()
	if err != nil {
		return err
	}
	packages, loaded, err := Load(a.InputDirs)
	if err != nil {
		return err
	}
	all, err := plan.Make(packages, a.Interface, a.Kinds...)
	if err != nil {
		return err
	}
	o := newOutput(a, all)
	if err := o.useLock(); err != nil {
		return err
	}
	layout := generators.Layout{Header: header, RoundTripPackage: o.roundTripsPath, RoundTripDir: o.roundTrips, MaxLines: maxLines}
	return o.write(loaded, layout)
}

// output knows where files belong.
type output struct {
	plan *plan.Plan
	// root is the folder that holds the hub's package, and everything that is written.
	root         string
	report, lock string
	// earlier is the content of the lock before. If release is set, all entries of the lock are released.
	earlier        string
	release        bool
	roundTrips     string
	roundTripsPath string
}

func newOutput(a *args.Args, all *plan.Plan) *output {
	o := &output{plan: all, root: filepath.Dir(all.Hub.Package.Dir), release: a.Release}
	o.report, o.lock = filepath.Join(o.root, a.ReportFile), filepath.Join(o.root, a.LockFile)
	if a.RoundTripDir != "" {
		o.roundTrips = filepath.Join(o.root, a.RoundTripDir)
		o.roundTripsPath = path.Join(path.Dir(all.Hub.Package.Path), filepath.ToSlash(a.RoundTripDir))
	}
	return o
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

// write has all files written to scratch folders, and then moves them to where they belong.
func (o *output) write(loaded *generator.Context, layout generators.Layout) (err error) {
	move, err := newMove(append(o.folders(), filepath.Dir(o.report), filepath.Dir(o.lock)))
	defer func() { err = errors.Join(err, move.clean()) }()
	if err != nil {
		return err
	}
	if err := loaded.ExecuteTargets(generators.Targets(o.plan, layout, move.scratchFor)); err != nil {
		return fmt.Errorf("writing Go code: %w", err)
	}
	for file, content := range map[string]string{o.report: record.Report(o.plan), o.lock: record.Lock(o.plan, o.earlier, o.release)} {
		if err := move.add(file, content); err != nil {
			return err
		}
	}
	return move.do(o.folders())
}

// folders are those in which an earlier run may have left files that this one does not write.
func (o *output) folders() []string {
	var folders []string
	for _, version := range o.plan.Versions {
		folders = append(folders, version.Package.Dir, filepath.Join(version.Package.Dir, "storage"))
	}
	if o.roundTrips != "" {
		folders = append(folders, o.roundTrips)
	}
	return folders
}
