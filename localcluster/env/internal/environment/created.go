/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

const (
	// createTimeout bounds each request that creates an object. An interrupt does not end it, so that it is known whether the object exists.
	createTimeout = 30 * time.Second
	// removeTimeout bounds the removal of the objects of one step, with their finalizers.
	removeTimeout = time.Minute
	removePeriod  = 200 * time.Millisecond
	// shownObjects is the number of objects that an error lists.
	shownObjects = 5
)

// created creates objects in a cluster that contains others, and removes exactly these.
type created struct {
	client  dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	objects []createdObject
	// installed is the number of these that are the operator. The others are samples.
	installed int
}

type createdObject struct {
	client dynamic.ResourceInterface
	object *unstructured.Unstructured
}

func newCreated(config *rest.Config) (*created, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the cluster: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the cluster's kinds: %w", err)
	}
	return &created{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

// resource returns the client for an object, whose namespace is default if its manifest has none.
func (c *created) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("finding the resource of %s: %w", describe(object), err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.client.Resource(mapping.Resource), nil
	}
	return c.client.Resource(mapping.Resource).Namespace(cmp.Or(object.GetNamespace(), metav1.NamespaceDefault)), nil
}

// expectNone returns an error if one of the objects exists.
func (c *created) expectNone(ctx context.Context, objects []*unstructured.Unstructured) error {
	var found []string
	for _, object := range objects {
		resource, err := c.resource(object)
		if meta.IsNoMatchError(err) {
			continue // of a kind that the manifests define
		}
		if err != nil {
			return err
		}
		switch _, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{}); {
		case err == nil:
			found = append(found, describe(object))
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("looking for %s: %w", describe(object), err)
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("the cluster of KUBECONFIG already contains %s: make run would remove it at its end, "+
			"and therefore uses a cluster without the operator and the samples; docs/how-to/uninstall.md removes them", list(found))
	}
	return nil
}

// create creates objects, and fails if one exists.
func (c *created) create(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		resource, err := c.resource(object)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
		stored, err := resource.Create(limited, object, metav1.CreateOptions{FieldManager: "make-run"})
		cancel()
		if err != nil {
			return fmt.Errorf("creating %s: %w", describe(object), err)
		}
		c.objects = append(c.objects, createdObject{resource, stored})
	}
	return nil
}

// removeInstances removes the samples and then all other objects of the operator's kinds, while the operator runs and removes their finalizers.
func (c *created) removeInstances(ctx context.Context) error {
	if err := c.remove(ctx, c.installed); err != nil {
		return err
	}
	for _, definition := range c.objects {
		if definition.object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		_, defined := manifest.Defines(definition.object)
		resource := c.client.Resource(defined)
		err := c.until(ctx, func(ctx context.Context) ([]string, error) {
			all, err := resource.List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				return nil, nil // not served yet
			}
			if err != nil {
				return nil, fmt.Errorf("listing the objects of %s: %w", definition.object.GetName(), err)
			}
			objects := make([]createdObject, len(all.Items))
			for i := range all.Items {
				objects[i] = createdObject{resource.Namespace(all.Items[i].GetNamespace()), &all.Items[i]}
			}
			return deleteAll(ctx, objects)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the objects after the first n, the last first, and waits until they do not exist.
func (c *created) remove(ctx context.Context, n int) error {
	if len(c.objects) <= n {
		return nil
	}
	err := c.until(ctx, func(ctx context.Context) ([]string, error) { return deleteAll(ctx, c.objects[n:]) })
	if err == nil {
		c.objects = c.objects[:n]
	}
	return err
}

// until repeats a step until it reports no objects that are left.
func (c *created) until(ctx context.Context, step func(context.Context) ([]string, error)) error {
	var left []string
	for _, object := range c.objects {
		left = append(left, describe(object.object))
	}
	err := wait.PollUntilContextTimeout(ctx, removePeriod, removeTimeout, true, func(ctx context.Context) (bool, error) {
		now, err := step(ctx)
		if err == nil {
			left = now
		}
		return len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("removing what this run has created; %s is left in the cluster, docs/how-to/uninstall.md removes it: %w", list(left), err)
	}
	return nil
}

// deleteAll deletes objects, the last first, and returns those that have existed.
func deleteAll(ctx context.Context, objects []createdObject) ([]string, error) {
	var left []string
	for _, object := range slices.Backward(objects) {
		existed, err := object.delete(ctx)
		if err != nil {
			return nil, err
		}
		if existed {
			left = append(left, describe(object.object))
		}
	}
	return left, nil
}

// delete deletes the object, unless another one has its name now, and reports whether it existed.
func (o createdObject) delete(ctx context.Context) (existed bool, err error) {
	uid := o.object.GetUID()
	err = o.client.Delete(ctx, o.object.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err) && !o.exists(ctx, uid):
		return false, nil
	case apierrors.IsConflict(err): // its namespace or its kind is being deleted
		return true, nil
	case err != nil:
		return true, fmt.Errorf("deleting %s: %w", describe(o.object), err)
	}
	return true, nil
}

func (o createdObject) exists(ctx context.Context, uid types.UID) bool {
	object, err := o.client.Get(ctx, o.object.GetName(), metav1.GetOptions{})
	return err == nil && object.GetUID() == uid
}

func describe(object *unstructured.Unstructured) string {
	return manifest.Name(object, object.GetKind())
}

func list(names []string) string {
	if len(names) > shownObjects {
		names = append(names[:shownObjects:shownObjects], fmt.Sprintf("%d more", len(names)-shownObjects))
	}
	return strings.Join(names, ", ")
}
