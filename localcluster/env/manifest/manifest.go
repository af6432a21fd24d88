/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// extensions are the file names that `kubectl apply -f FOLDER` looks at.
var extensions = []string{".yaml", ".yml", ".json"}

// ReadDir reads every manifest of the folders, but not of the folders in them, sorted by file name as kubectl does. A folder
// without any object is an error, since every caller is about to apply it. Errors name the file and the document in it.
func ReadDir(dirs ...string) (all []*unstructured.Unstructured, _ error) {
	for _, dir := range dirs {
		objects, err := readDir(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

func readDir(dir string) ([]*unstructured.Unstructured, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the manifests of %s: %w", dir, err)
	}
	var objects []*unstructured.Unstructured
	for _, entry := range entries {
		if entry.IsDir() || !slices.Contains(extensions, filepath.Ext(entry.Name())) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		// os.ReadFile follows a symbolic link, which may still turn out to be a folder.
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading the manifests of %s: %w", dir, err)
		}
		parsed, err := Parse(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		objects = append(objects, parsed...)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("%s holds no manifest: at least one object in a .yaml, .yml or .json file is needed", dir)
	}
	return objects, nil
}

// Parse reads the documents of a YAML or JSON text; empty documents are passed over and a v1 List is taken apart. A
// duplicate key is an error, as it is for the API server. Errors name the document, counted from 1.
func Parse(content []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		parsed, err := parseDocument(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		objects = append(objects, parsed...)
	}
}

func parseDocument(document []byte) ([]*unstructured.Unstructured, error) {
	var fields map[string]any
	if err := yaml.UnmarshalStrict(document, &fields); err != nil {
		return nil, fmt.Errorf("not a YAML mapping: %w", err)
	}
	if len(fields) == 0 {
		return nil, nil
	}
	content, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	// The JSON decoder of unstructured keeps integers apart from floats, which a plain map does not.
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(bytes.TrimSpace(content)); err != nil {
		return nil, fmt.Errorf("not a Kubernetes object: %w", err)
	}
	if object.GetAPIVersion() == "" {
		return nil, errors.New(`apiVersion is missing: every object names its group and version, such as "v1"`)
	}
	if object.IsList() {
		list, err := object.ToList()
		if err != nil {
			return nil, fmt.Errorf("reading the items of a %s: %w", object.GetKind(), err)
		}
		var items []*unstructured.Unstructured
		for i := range list.Items {
			items = append(items, &list.Items[i])
		}
		return items, nil
	}
	if object.GetKind() == "Kustomization" {
		return nil, errors.New("a Kustomization changes manifests, which kubectl kustomize does; only a folder of manifests can be read")
	}
	if object.GetName() == "" && object.GetGenerateName() == "" {
		return nil, fmt.Errorf("metadata.name of the %s is missing", object.GetKind())
	}
	return []*unstructured.Unstructured{object}, nil
}

// ServeAllVersions has each CustomResourceDefinition among the objects serve all of its versions.
func ServeAllVersions(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		versions, _, err := unstructured.NestedSlice(object.Object, "spec", "versions")
		if err != nil {
			return fmt.Errorf("%s: %w", Name(object, object.GetKind()), err)
		}
		for _, version := range versions {
			if fields, ok := version.(map[string]any); ok {
				fields["served"] = true
			}
		}
		if err := unstructured.SetNestedSlice(object.Object, versions, "spec", "versions"); err != nil {
			return fmt.Errorf("%s: %w", Name(object, object.GetKind()), err)
		}
	}
	return nil
}

// Name returns the name of an object in messages: kind and name, with the namespace if it has one.
func Name(object metav1.Object, kind string) string {
	if object.GetNamespace() == "" {
		return kind + " " + object.GetName()
	}
	return kind + " " + object.GetNamespace() + "/" + object.GetName()
}

// Defines returns the kind that a CustomResourceDefinition defines, and its resource in the version that is stored.
func Defines(crd *unstructured.Unstructured) (schema.GroupKind, schema.GroupVersionResource) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var stored string
	for _, version := range versions {
		fields, _ := version.(map[string]any)
		if isStored, _ := fields["storage"].(bool); isStored {
			stored, _ = fields["name"].(string)
		}
	}
	return schema.GroupKind{Group: group, Kind: kind}, schema.GroupVersionResource{Group: group, Version: stored, Resource: plural}
}
