/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"fmt"
	"io"

	"k8s.io/gengo/v2/generator"
	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/parser"
	"k8s.io/klog/v2"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// Load reads packages, named by import paths or folders, through the go command. Types that do not check are tolerated,
// because other generated code may be missing yet; files that do not parse are not.
func Load(patterns []string) ([]*model.Package, *generator.Context, error) {
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
	packages, err := model.Read(loaded.Universe, loader.UserRequestedPackages())
	if err != nil {
		return nil, nil, err
	}
	return packages, loaded, nil
}
