/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

const (
	// moduleDir is the folder of the control plane's module within the repository.
	moduleDir = "localcluster"
	// envModule is the module of this package.
	envModule = "github.com/mallard-dev/mallard/localcluster/env"
	// versionsDir is the folder of the go.mod files for other versions of Kubernetes within the module.
	versionsDir = "versions"
	// versionVariable chooses one of them, such as 1.34; without it the module's own go.mod is used.
	versionVariable = "LOCALCLUSTER_KUBERNETES"
)

// source holds the sources of the program.
type source struct {
	// dir is the module's folder.
	dir string
	// modfile is the go.mod to build with.
	modfile string
	// tags choose the code for the version of Kubernetes: kubernetes1.34 and the like, none for the module's own go.mod.
	tags string
	// ldflags are the linker's flags: they set the versions that the program reports.
	ldflags string
	// hash identifies everything that goes into the program.
	hash string
}

// findSource finds the module of the control plane: next to this one in a checkout, which may replace this one in the operator's go.mod, otherwise in
// the module cache.
func findSource(ctx context.Context) (*source, error) {
	root, err := folderWith(filepath.Join(moduleDir, "go.mod"))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, moduleDir)
	if root == "" {
		if dir, err = download(ctx); err != nil {
			return nil, err
		}
	}
	s := &source{dir: dir}
	if s.modfile, s.tags, err = findModfile(dir); err != nil {
		return nil, err
	}
	gomod, err := os.ReadFile(s.modfile)
	if err != nil {
		return nil, fmt.Errorf("reading which Kubernetes to build: %w", err)
	}
	if s.ldflags, err = versionFlags(gomod); err != nil {
		return nil, fmt.Errorf("%s: %w", s.modfile, err)
	}
	version, err := goCommand(ctx, "env", "GOVERSION")
	if err != nil {
		return nil, fmt.Errorf("reading the version of Go: %w", err)
	}
	hash := sha256.New()
	fmt.Fprintln(hash, version, runtime.GOOS, runtime.GOARCH, s.ldflags)
	hash.Write(gomod)
	if err := hashFiles(hash, dir); err != nil {
		return nil, fmt.Errorf("reading the sources of the control plane: %w", err)
	}
	s.hash = hex.EncodeToString(hash.Sum(nil))[:16]
	return s, nil
}

// Repository returns the root folder of the module that the working directory is in, which is that of the operator.
func Repository() (string, error) {
	dir, err := folderWith("go.mod")
	if err == nil && dir == "" {
		err = errors.New("no go.mod in the working directory or above it: run this inside the operator's repository")
	}
	return dir, err
}

// folderWith returns the nearest folder, from the working directory upwards, that holds the file, and "" if none does.
func folderWith(file string) (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", file, err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}

// download returns the folder of the control plane's module in the module cache, at the version of this module that the operator requires:
// the two are released together. If a folder replaces this module, the control plane's is the folder that it is in.
func download(ctx context.Context) (string, error) {
	version, err := goCommand(ctx, "list", "-m", "-f", "{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}", envModule)
	if err != nil {
		return "", fmt.Errorf("finding the version of the control plane: no folder %s/ in the working directory or above it, and: %w", moduleDir, err)
	}
	if version == "" {
		dir, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", envModule)
		return filepath.Dir(dir), err
	}
	out, err := goCommand(ctx, "mod", "download", "-json", path.Dir(envModule)+"@"+version)
	if err != nil {
		return "", fmt.Errorf("downloading the control plane's sources: %w", err)
	}
	var module struct {
		Dir string `json:"dir"` // "Dir", which encoding/json matches
	}
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		return "", fmt.Errorf("downloading the control plane's sources: %w", err)
	}
	return module.Dir, nil
}

// goCommand returns the output of the go command without white space around it. The error holds its messages.
func goCommand(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return string(bytes.TrimSpace(out)), err
}

// findModfile returns the path of the go.mod, and the build tags, for the version of Kubernetes in the environment.
func findModfile(dir string) (path, tags string, err error) {
	version := os.Getenv(versionVariable)
	if version == "" {
		return filepath.Join(dir, "go.mod"), "", nil
	}
	files, err := filepath.Glob(filepath.Join(dir, versionsDir, "v*.mod"))
	if err != nil {
		return "", "", fmt.Errorf("listing the versions of Kubernetes: %w", err)
	}
	known := make([]string, 0, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "v"), ".mod")
		if name == version {
			return file, "kubernetes" + version, nil
		}
		known = append(known, name)
	}
	return "", "", fmt.Errorf("environment variable %s=%q: must be one of %s, or not set for the version that %s requires",
		versionVariable, version, strings.Join(known, ", "), filepath.Join(moduleDir, "go.mod"))
}

var kubernetesVersion = regexp.MustCompile(`(?m)^(?:require)?\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)`)

// versionFlags returns the linker flags that set the version of Kubernetes which go.mod requires. Kubernetes' own build
// does the same; without it the API server calls itself v0.0.0-master, which clients that check for a minimum reject.
func versionFlags(gomod []byte) (string, error) {
	match := kubernetesVersion.FindSubmatch(gomod)
	if match == nil {
		return "", errors.New("it does not require k8s.io/kubernetes at a release")
	}
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for i, name := range []string{"gitVersion", "gitMajor", "gitMinor"} {
			flags = append(flags, "-X", fmt.Sprintf("%s.%s=%s", pkg, name, match[i+1]))
		}
	}
	return strings.Join(flags, " "), nil
}

// isModule reports whether a folder is that of another module.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// hashFiles adds every file of the module that can change the program, in a fixed order. The caller selects its go.mod.
func hashFiles(hash io.Writer, dir string) error {
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case path == ".":
			return nil
		case entry.IsDir() && isModule(filepath.Join(dir, path)):
			return fs.SkipDir
		case entry.IsDir() && (name == "testdata" || path == versionsDir || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !entry.Type().IsRegular(), strings.HasPrefix(name, "."), strings.HasSuffix(name, "_test.go"), strings.HasSuffix(name, ".md"):
			return nil
		case path == "LICENSE":
			return nil // the go command adds that of the repository to a module that it downloads
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if _, err := fmt.Fprintf(hash, "%s %d\n%s", path, len(data), data); err != nil {
			return fmt.Errorf("hashing %s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("walking %s: %w", dir, err)
	}
	return nil
}
