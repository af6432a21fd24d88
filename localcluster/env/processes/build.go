/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

const (
	buildGrace = 2 * time.Second
	lockPoll   = 50 * time.Millisecond
)

// Binary is a program that was built from a main package.
type Binary struct {
	// Path is the executable.
	Path string
	// Source is the folder of its package.
	Source string
}

// ImportPaths returns the packages that the images of manifests name in ko's form, sorted and without duplicates.
func ImportPaths(objects []*unstructured.Unstructured) ([]string, error) {
	var found []string
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		var deployment appsv1.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment); err != nil {
			return nil, fmt.Errorf("deployment %s/%s: %w", object.GetNamespace(), object.GetName(), err)
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			if importPath, ok := strings.CutPrefix(container.Image, imagePrefix); ok {
				found = append(found, importPath)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// Build builds main packages of the module in the folder module. The executables are kept in the folder cache, so that a
// package that has not changed is not linked again, and are linked into the folder out, where they are not replaced; both folders are created. The
// flags are the defaultFlags of the module's .ko.yaml, if there is one, so that a process is built as its image is, with the compiler flags of the
// control plane, whose packages are not compiled again. Builders of several processes
// wait for each other. An error of the compiler carries its output.
func Build(ctx context.Context, module string, importPaths []string, cache, out string) (map[string]Binary, error) {
	names := map[string]string{}
	for _, importPath := range importPaths {
		if other, ok := names[path.Base(importPath)]; ok {
			return nil, fmt.Errorf("images %s%s and %s%s end in the same name: each needs its own", imagePrefix, other, imagePrefix, importPath)
		}
		names[path.Base(importPath)] = importPath
	}
	for _, dir := range []string{cache, out} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making a folder for the executables: %w", err)
		}
	}
	lock := flock.New(filepath.Join(cache, "lock"))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("waiting for another build, which holds %s: %w", lock.Path(), cmp.Or(context.Cause(ctx), err))
	}
	defer func() { _ = lock.Unlock() }()
	flags, err := koFlags(module)
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"build", "-trimpath"}, controlplane.CompilerFlags(), flags, []string{"-o", cache + string(filepath.Separator)}, importPaths)
	if _, err := goCommand(ctx, module, out, args...); err != nil {
		return nil, fmt.Errorf("building %s: %w", strings.Join(importPaths, ", "), err)
	}
	folders, err := goCommand(ctx, module, out, append([]string{"list", "-buildvcs=false", "-find", "-f", "{{.ImportPath}}\t{{.Dir}}"}, importPaths...)...)
	if err != nil {
		return nil, fmt.Errorf("finding the folders of %s: %w", strings.Join(importPaths, ", "), err)
	}
	binaries := map[string]Binary{}
	for line := range strings.Lines(folders) {
		importPath, source, _ := strings.Cut(strings.TrimSpace(line), "\t")
		binary := filepath.Join(out, path.Base(importPath))
		if err := link(filepath.Join(cache, path.Base(importPath)), binary); err != nil {
			return nil, fmt.Errorf("putting the executable of %s in place: %w", importPath, err)
		}
		binaries[importPath] = Binary{Path: binary, Source: source}
	}
	return binaries, nil
}

// koFlags returns the flags for the go command with which ko builds the module's images (https://ko.build/configuration).
func koFlags(module string) ([]string, error) {
	const name = ".ko.yaml"
	content, err := os.ReadFile(filepath.Join(module, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var config struct {
		DefaultFlags []string `json:"defaultFlags"`
	}
	if err = cmp.Or(err, yaml.Unmarshal(content, &config)); err != nil {
		return nil, fmt.Errorf("reading the flags for the go command from %s: %w", name, err)
	}
	return config.DefaultFlags, nil
}

// goCommand runs the go command without cgo, since a machine with nothing but Go has no C compiler, and returns its output.
func goCommand(ctx context.Context, dir, temp string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "PWD="+dir,
		// When it is stopped it leaves its files behind; here they are removed with the rest.
		"GOTMPDIR="+temp)
	stdout, err := procgroup.Output(ctx, cmd, buildGrace)
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return stdout, nil
}

// link makes a hard link, or where the file systems differ a copy.
func link(from, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Link(from, to); err == nil {
		return nil
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o700) //nolint:gosec // an executable
}
