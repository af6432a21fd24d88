/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package args holds the command line of assign-gen.
package args

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// Args are the parsed command line.
type Args struct {
	// InputDirs are the API packages, one for each version. Those in one folder are the versions of one API.
	InputDirs []string
	// Kinds are the kinds that are converted, or nil for all.
	Kinds []string
	// HeaderFile holds the comment that every generated Go file begins with.
	HeaderFile string
	// Interface is the interface that the conversion webhook calls.
	Interface plan.Interface
	// RoundTripDir is the folder of the tests through all versions, relative to the folder that holds the hub's package; none are written if it
	// is empty.
	RoundTripDir string
	// Release has all lines of the lock bind from now on.
	Release bool
}

// New returns the defaults of the arguments.
func New() *Args { return &Args{Interface: plan.Knative, RoundTripDir: "roundtrip"} }

// AddFlags defines the flags.
func (a *Args) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&a.InputDirs, "input-dirs", "i", a.InputDirs,
		"comma-separated API packages, one for each version, as import paths or folders; those in one folder are the versions of one API")
	flags.StringSliceVar(&a.Kinds, "kinds", a.Kinds, "comma-separated kinds that are converted with all that they contain; all kinds if it is empty")
	flags.StringVarP(&a.HeaderFile, "go-header-file", "h", a.HeaderFile, "file with the comment that generated Go files begin with")
	flags.StringVar((*string)(&a.Interface), "interface", string(a.Interface),
		"interface by which the conversion webhook calls the API: "+interfaces)
	flags.StringVar(&a.RoundTripDir, "round-trip-dir", a.RoundTripDir,
		"folder of the tests that take objects through all versions, relative to the folder above the hub's package; empty for none")
	flags.BoolVar(&a.Release, "release", a.Release, "have the whole lock bind from now on, because a release writes what it lists")
}

// interfaces are the values of --interface, as messages name them.
const interfaces = string(plan.Knative) + " or " + string(plan.ControllerRuntime)

// Validate returns an error for missing and invalid arguments.
func (a *Args) Validate() error {
	if len(a.InputDirs) == 0 {
		return errors.New("--input-dirs is empty: name the API package of every version")
	}
	if a.Interface != plan.Knative && a.Interface != plan.ControllerRuntime {
		return fmt.Errorf("--interface is %q: choose %s", a.Interface, interfaces)
	}
	if filepath.IsAbs(a.RoundTripDir) {
		return fmt.Errorf("--round-trip-dir is %s: name it by its path from the folder above the hub's package", a.RoundTripDir)
	}
	return nil
}

// ValidateSeveral returns an error for arguments that are clear only if there is one API.
func (a *Args) ValidateSeveral() error {
	if len(a.Kinds) > 0 {
		return errors.New("--kinds selects kinds of one API, and --input-dirs names packages of several: run assign-gen for each of them, or omit --kinds")
	}
	if a.RoundTripDir != "" && !filepath.IsLocal(a.RoundTripDir) {
		return fmt.Errorf("--round-trip-dir is %s, where the files of several APIs would be one: name it below the folder above the hub's package",
			a.RoundTripDir)
	}
	return nil
}

// Header reads the header file, which may hold nothing but a comment.
func (a *Args) Header() (string, error) {
	if a.HeaderFile == "" {
		return "", nil
	}
	content, err := os.ReadFile(a.HeaderFile)
	if err != nil {
		return "", fmt.Errorf("reading --go-header-file: %w", err)
	}
	header := strings.TrimSpace(string(content)) + "\n"
	if _, err := parser.ParseFile(token.NewFileSet(), a.HeaderFile, header+"package p\n", parser.PackageClauseOnly); err != nil {
		return "", fmt.Errorf("--go-header-file holds something else than a comment: %w", err)
	}
	return header, nil
}
