/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
)

// references are images in ko's form: the import path of a program.
var references = regexp.MustCompile(`ko://([A-Za-z0-9._~/-]+)`)

// develVersion is the label that the manifests of the checkout have.
var develVersion = regexp.MustCompile(`(?m)^( +app\.kubernetes\.io/version:) devel$`)

// manifest is a file of what is released, by its slash-separated path in the checkout.
type manifest struct {
	path    string
	content []byte
}

// readTree reads the files below some folders of the checkout, sorted by path.
func readTree(source fs.FS, folders ...string) ([]manifest, error) {
	var found []manifest
	for _, folder := range folders {
		err := fs.WalkDir(source, folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(source, name)
			if err != nil {
				return fmt.Errorf("reading file %s: %w", name, err)
			}
			found = append(found, manifest{name, content})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", folder, err)
		}
	}
	return found, nil
}

// importPaths are those that the manifests name as images, sorted.
func importPaths(manifests []manifest) ([]string, error) {
	var paths []string
	for _, m := range manifests {
		for _, match := range references.FindAllSubmatch(m.content, -1) {
			paths = append(paths, string(match[1]))
		}
	}
	if len(paths) == 0 {
		return nil, errors.New("no manifest has an image in ko's form (ko://IMPORTPATH), so there is nothing to release")
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// pin returns the manifests with images by digest and the version in their labels.
func pin(manifests []manifest, pinned map[string]string, version string) []manifest {
	var result []manifest
	for _, m := range manifests {
		content := references.ReplaceAllFunc(m.content, func(reference []byte) []byte {
			return []byte(pinned[string(references.FindSubmatch(reference)[1])])
		})
		content = develVersion.ReplaceAll(content, []byte("$1 "+version))
		result = append(result, manifest{m.path, content})
	}
	return result
}

// ruleHead is the PrometheusRule in the checkout, which ends where its groups of rules begin; rules are those.
const ruleHead, rules = "monitoring/prometheusrule.yaml", "monitoring/rules.yaml"

// completeRule puts the alerts into the PrometheusRule, indented as its spec.
func completeRule(manifests []manifest) []manifest {
	result := slices.Clone(manifests)
	head := slices.IndexFunc(result, func(m manifest) bool { return m.path == ruleHead })
	alerts := slices.IndexFunc(result, func(m manifest) bool { return m.path == rules })
	if head >= 0 && alerts >= 0 {
		indented := regexp.MustCompile(`(?m)^(.)`).ReplaceAll(result[alerts].content, []byte("  $1"))
		result[head].content = slices.Concat(result[head].content, indented)
	}
	return result
}

// operatorsOwn are the manifests that are objects of Kubernetes; a configuration of Prometheus is none.
func operatorsOwn(manifests []manifest) []manifest {
	return slices.DeleteFunc(slices.Clone(manifests), func(m manifest) bool { return !bytes.Contains(m.content, []byte("\napiVersion:")) })
}

// oneFile is the manifests of a folder in one file that begins with a comment, in the order in which `kubectl apply -R`
// takes them.
func oneFile(manifests []manifest, folder, comment string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", comment)
	for _, m := range manifests {
		if path.Dir(m.path) != folder || path.Ext(m.path) != ".yaml" {
			continue
		}
		out.WriteString("---\n")
		out.Write(bytes.TrimSpace(m.content))
		out.WriteString("\n")
	}
	return out.Bytes()
}

func sourceFS(o options) fs.FS { return os.DirFS(o.source) }
