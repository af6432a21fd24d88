/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"k8s.io/gengo/v2/generator"
	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/parser"
	"k8s.io/gengo/v2/types"
	"k8s.io/klog/v2"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// Load reads packages, named by import paths or folders, through the go command, and returns those of each API. Types that do not check
// are tolerated, because other generated code may be missing yet; files that do not parse are not.
func Load(patterns []string) ([][]*model.Package, *generator.Context, error) {
	// gengo logs each alias that has another comment than its type, and each comment in full. Problems would be lost among these.
	defer klog.CaptureState().Restore()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)

	loader := parser.NewWithOptions(parser.Options{BuildTags: []string{generators.BuildTag}})
	if err := loader.LoadPackages(patterns...); err != nil {
		return nil, nil, fmt.Errorf("loading packages: %w", err)
	}
	loaded, err := generator.NewContext(loader, namer.NameSystems{}, "")
	if err != nil {
		return nil, nil, fmt.Errorf("reading the types of packages: %w", err)
	}
	paths := loader.UserRequestedPackages()
	if len(paths) == 0 {
		return nil, nil, fmt.Errorf("there are no packages %q", patterns)
	}
	apis, err := readAPIs(loaded.Universe, paths)
	if err != nil {
		return nil, nil, err
	}
	return apis, loaded, nil
}

// readAPIs reads packages that are loaded, sorted by APIs: the packages in a folder are the versions of one. Types that several APIs use are read
// for each of them, because a plan changes those that versions use of each other.
func readAPIs(universe types.Universe, paths []string) ([][]*model.Package, error) {
	versions := make(map[string][]string)
	for _, each := range paths {
		versions[path.Dir(each)] = append(versions[path.Dir(each)], each)
	}
	var apis [][]*model.Package
	for _, folder := range slices.Sorted(maps.Keys(versions)) {
		packages, err := model.Read(universe, versions[folder])
		if err != nil {
			return nil, err
		}
		apis = append(apis, packages)
	}
	return apis, nil
}
