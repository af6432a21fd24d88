/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// findTarget finds an object that a sample of the new kind can refer to: one of the samples, or else one of targets.
func (p *project) findTarget(gvk schema.GroupVersionKind, ref *reference) error {
	object, err := p.findSample(gvk)
	if err != nil {
		return err
	}
	if object != nil {
		ref.Name = object.GetName()
	} else {
		key := gvk.GroupVersion().String() + "." + gvk.Kind
		manifest, ok := targets[key]
		if !ok {
			return fmt.Errorf("no file of samples/ has an object of this kind, which the sample of the new kind could refer to; add one, or choose one of %s",
				strings.Join(slices.Sorted(maps.Keys(targets)), ", "))
		}
		object = &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
			return fmt.Errorf("reading the manifest of %s: %w", key, err)
		}
		object.SetNamespace("default")
		sample, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("writing the manifest of %s: %w", key, err)
		}
		ref.Name, ref.Sample = object.GetName(), string(sample)
	}
	object.SetNamespace("")
	object.SetName("target")
	manifest, err := json.Marshal(object.Object)
	if err != nil {
		return fmt.Errorf("writing the manifest of the reference: %w", err)
	}
	ref.Manifest = string(manifest)
	return nil
}

// findSample returns the first object of a kind in samples/, or nil.
func (p *project) findSample(gvk schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(p.root, "samples/*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("listing the samples: %w", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if object.GroupVersionKind() == gvk && slices.Contains([]string{"", "default"}, object.GetNamespace()) {
				return object, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // none is no error
}
