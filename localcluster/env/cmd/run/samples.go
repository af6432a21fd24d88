/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// samples are the manifests of the samples' folder, and which of their objects are of the operator's own kinds.
type samples struct {
	dir string
	// all is the number of objects in the folder.
	all int
	// own are the objects whose kind a CustomResourceDefinition of the configuration defines; the others, such as a
	// Service that one of them refers to, have no condition Ready to follow.
	own []*unstructured.Unstructured
	// resources are the resources of the kinds of own.
	resources map[schema.GroupKind]schema.GroupVersionResource
}

// readSamples reads the samples' folder. A folder without any object of the operator's kinds is an error, since there
// would be nothing to show.
func readSamples(dir string, configuration []*unstructured.Unstructured) (*samples, error) {
	objects, err := manifest.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	defined, scopes := map[schema.GroupKind]schema.GroupVersionResource{}, map[schema.GroupKind]string{}
	for _, object := range configuration {
		if object.GetKind() == "CustomResourceDefinition" {
			kind, resource := manifest.Defines(object)
			defined[kind] = resource
			scopes[kind], _, _ = unstructured.NestedString(object.Object, "spec", "scope")
		}
	}
	s := &samples{dir: dir, all: len(objects), resources: map[schema.GroupKind]schema.GroupVersionResource{}}
	for _, object := range objects {
		kind := object.GroupVersionKind().GroupKind()
		resource, ok := defined[kind]
		if !ok {
			continue
		}
		if object.GetNamespace() == "" && scopes[kind] != string(apiextensionsv1.ClusterScoped) {
			object.SetNamespace(metav1.NamespaceDefault)
		}
		s.own = append(s.own, object)
		s.resources[kind] = resource
	}
	if len(s.own) == 0 {
		return nil, fmt.Errorf("%s holds no object of a kind that the configuration defines, so there is nothing to wait for", dir)
	}
	return s, nil
}
