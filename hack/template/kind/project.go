/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"
)

// project has the names of the operator, which the sources contain.
type project struct {
	root string

	// Header and HashHeader are the license headers of Go files and of others.
	Header, HashHeader string
	Module             string
	// Environment is the module with the harness of the suites, which a fork may require from its template.
	Environment string
	// API is the folder of the operator's API below pkg/apis, and APIPackage the name of its package.
	API, APIPackage string
	Group           string
	// App is the value of the label app.kubernetes.io/name and the prefix of roles, and Namespace the one of the operator.
	App, Namespace string
	// versions are those of the API, the most stable one first.
	versions []string
}

// readProject reads the names of the operator from the sources in a folder.
func readProject(root string) (*project, error) {
	p := &project{root: root}
	header, err := p.read("hack/boilerplate/boilerplate.go.txt")
	if err != nil {
		return nil, err
	}
	p.Header = strings.TrimSpace(header)
	for line := range strings.Lines(p.Header) {
		if line = strings.TrimSpace(line); line != "/*" && line != "*/" {
			p.HashHeader += "# " + line + "\n"
		}
	}
	p.HashHeader = strings.TrimSpace(p.HashHeader)
	if err := p.readAPI(); err != nil {
		return nil, err
	}
	for _, value := range []struct {
		to            *string
		file, pattern string
	}{
		{&p.Module, "go.mod", `(?m)^module (\S+)$`},
		{&p.Environment, "go.mod", `(?m)^\t(\S+/localcluster/env) v`},
		{&p.APIPackage, "pkg/apis/" + p.API + "/doc.go", `(?m)^package (\w+)$`},
		{&p.Group, p.folder(p.versions[0]) + "doc.go", `(?m)^// \+groupName=(\S+)$`},
		{&p.App, "config/100-namespace.yaml", `(?m)^    app\.kubernetes\.io/name: (\S+)$`},
		{&p.Namespace, "config/100-namespace.yaml", `(?m)^  name: (\S+)$`},
	} {
		if *value.to, err = p.find(value.file, value.pattern); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// readAPI finds the folder of the API, whose versions have a group and kinds.
func (p *project) readAPI() error {
	docs, err := filepath.Glob(filepath.Join(p.root, "pkg/apis/*/v*/doc.go"))
	if err != nil {
		return fmt.Errorf("listing the versions below pkg/apis: %w", err)
	}
	for _, doc := range docs {
		content, err := os.ReadFile(doc)
		if err != nil {
			return err
		}
		folder := filepath.Dir(doc)
		kinds, err := filepath.Glob(filepath.Join(folder, "*_lifecycle.go"))
		if err != nil || len(kinds) == 0 || !strings.Contains(string(content), "\n// +groupName=") {
			continue
		}
		api := filepath.Base(filepath.Dir(folder))
		if p.API != "" && p.API != api {
			return fmt.Errorf("pkg/apis has two groups with kinds, %s and %s, want one", p.API, api)
		}
		p.API, p.versions = api, append(p.versions, filepath.Base(folder))
	}
	if p.API == "" {
		return errors.New("no package pkg/apis/GROUP/VERSION has the marker +groupName and a file KIND_lifecycle.go")
	}
	slices.SortFunc(p.versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return nil
}

func (p *project) read(path string) (string, error) {
	content, err := os.ReadFile(filepath.Join(p.root, path))
	return string(content), err
}

// find returns the match of the pattern's first group in a file.
func (p *project) find(path, pattern string) (string, error) {
	content, err := p.read(path)
	if err != nil {
		return "", err
	}
	match := regexp.MustCompile(pattern).FindStringSubmatch(content)
	if match == nil {
		return "", fmt.Errorf("%s: no line matches %s", path, pattern)
	}
	return match[1], nil
}

func (p *project) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(p.root, path))
	return err == nil
}

// accessor returns the method of the generated clientset for a version, such as SamplesV1.
func (p *project) accessor(of string) (string, error) {
	const pattern = `(?m)^func \(c \*Clientset\) (\w+)V\d\w*\(\)`
	name, err := p.find("pkg/client/clientset/versioned/clientset.go", pattern)
	if err != nil {
		return "", err
	}
	return name + strings.ToUpper(of[:1]) + of[1:], nil
}

// folder is that of a version, and importPath the one of its package.
func (p *project) folder(of string) string { return "pkg/apis/" + p.API + "/" + of + "/" }

func (p *project) importPath(of string) string { return path.Join(p.Module, p.folder(of)) }

// hasConversions reports whether the conversions of a version are generated, of which a kind of one version has none.
func (p *project) hasConversions(of string) bool {
	doc, err := p.read(p.folder(of) + "doc.go")
	return err == nil && strings.Contains(doc, "\n// +conversion-gen:")
}

// declares reports whether a version has a type of this name.
func (p *project) declares(of, name string) bool {
	files, err := filepath.Glob(filepath.Join(p.root, p.folder(of), "*.go"))
	declaration := regexp.MustCompile(`(?m)^(?:type|func|var|const|\t_?) ?` + name + `\b`)
	return err == nil && slices.ContainsFunc(files, func(file string) bool {
		content, err := os.ReadFile(file)
		return err == nil && declaration.Match(content)
	})
}
