/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	definitionsv1 "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// The clients that upstream's Migrator is given. Each embeds the interface that it stands for, which stays nil: a method
// that a later Migrator calls, and that is not here, fails at once rather than in a way that nobody has thought of.

// objects is the client for the objects.
type objects struct {
	dynamic.Interface
	run *run
}

func (o objects) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return namespaceable{run: o.run, client: o.run.migrator.Objects.Resource(resource)}
}

type namespaceable struct {
	dynamic.NamespaceableResourceInterface
	run    *run
	client dynamic.NamespaceableResourceInterface
}

func (n namespaceable) Namespace(namespace string) dynamic.ResourceInterface {
	return namespaced{run: n.run, namespace: namespace, client: n.client.Namespace(namespace)}
}

type namespaced struct {
	dynamic.ResourceInterface
	run       *run
	namespace string
	client    dynamic.ResourceInterface
}

// List lists a page of objects.
func (n namespaced) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	var list *unstructured.UnstructuredList
	err := n.run.try(ctx, "listing objects", func(ctx context.Context) (err error) {
		list, err = n.client.List(ctx, options)
		return err //nolint:wrapcheck // try does
	})
	if err != nil {
		return nil, err
	}
	n.run.tally.page(len(list.Items), list.GetRemainingItemCount())
	return list, nil
}

// Patch writes an object, and has an error only if there is no use in going on with others. An object that could not be
// cleaned is left alone, as it would be refused again. Upstream makes nothing of what is returned.
func (n namespaced) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, sub ...string,
) (*unstructured.Unstructured, error) {
	tally, key := n.run.tally, types.NamespacedName{Namespace: n.namespace, Name: name}
	if tally.hasFailed(key) {
		return nil, nil //nolint:nilnil // see above
	}
	err := n.run.try(ctx, "writing it", func(ctx context.Context) error {
		_, err := n.client.Patch(ctx, name, kind, data, options, sub...)
		return err //nolint:wrapcheck // try does
	})
	return nil, tally.note(key, &tally.moved, err)
}

// definitions is the client for the definition.
type definitions struct {
	clientset.Interface
	run *run
}

func (d definitions) ApiextensionsV1() definitionsv1.ApiextensionsV1Interface {
	return definitionsV1{run: d.run}
}

type definitionsV1 struct {
	definitionsv1.ApiextensionsV1Interface
	run *run
}

func (d definitionsV1) CustomResourceDefinitions() definitionsv1.CustomResourceDefinitionInterface {
	return definition{run: d.run}
}

type definition struct {
	definitionsv1.CustomResourceDefinitionInterface
	run *run
}

// Get returns the definition that the run has read, by which it goes throughout.
func (d definition) Get(context.Context, string, metav1.GetOptions) (*apiextensionsv1.CustomResourceDefinition, error) {
	return d.run.crd.DeepCopy(), nil
}

var (
	errObjectsLeft = errors.New("objects are left")
	errChanged     = errors.New("the definition has changed meanwhile, so that objects may have been written as it was: migrate again")
)

// Patch prunes status.storedVersions, unless an object is left, or the definition is no longer the one that was read.
// That it is cannot change before the patch arrives, since that carries the resourceVersion.
func (d definition) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, sub ...string,
) (*apiextensionsv1.CustomResourceDefinition, error) {
	if len(d.run.tally.sorted()) > 0 {
		return nil, errObjectsLeft
	}
	client := d.run.migrator.Definitions.ApiextensionsV1().CustomResourceDefinitions()
	var result *apiextensionsv1.CustomResourceDefinition
	err := d.run.try(ctx, "writing status.storedVersions", func(ctx context.Context) error {
		live, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the definition again: %w", err)
		}
		if err := d.run.unchanged(live); err != nil {
			return err
		}
		patch, err := withResourceVersion(data, live.ResourceVersion)
		if err != nil {
			return err
		}
		result, err = client.Patch(ctx, name, kind, patch, options, sub...)
		return err //nolint:wrapcheck // try does
	})
	return result, err
}

// unchanged compares generations, which count every change of the spec. The storage version alone would not do: it may have
// been another for a while, and objects written at that one.
func (r *run) unchanged(live *apiextensionsv1.CustomResourceDefinition) error {
	if live.UID == r.crd.UID && live.Generation == r.crd.Generation {
		return nil
	}
	return &permanentError{fmt.Errorf("%w (generation %d, storage version %s; now %d, %s)",
		errChanged, r.crd.Generation, storageVersion(r.crd), live.Generation, storageVersion(live))}
}

func storageVersion(crd *apiextensionsv1.CustomResourceDefinition) string {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Storage {
			return crd.Spec.Versions[i].Name
		}
	}
	return ""
}

// withResourceVersion has the API server refuse a merge patch if the object has changed.
func withResourceVersion(patch []byte, version string) ([]byte, error) {
	var fields map[string]any
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, &permanentError{fmt.Errorf("reading the patch of status.storedVersions: %w", err)}
	}
	fields["metadata"] = map[string]any{"resourceVersion": version}
	changed, err := json.Marshal(fields)
	if err != nil {
		return nil, &permanentError{fmt.Errorf("writing the patch of status.storedVersions: %w", err)}
	}
	return changed, nil
}
