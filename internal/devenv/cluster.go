/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devenv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/mallard-dev/mallard/internal/devcluster"
)

var definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// startCluster builds and starts the control plane.
func (e *Env) startCluster(ctx context.Context, options Options) error {
	end := options.Begin(BuildCluster)
	var err error
	if e.Localcluster, err = devcluster.Build(ctx, options.Progress); err != nil {
		return err
	}
	end()
	end = options.Begin(StartCluster)
	e.cluster, err = devcluster.Start(ctx, devcluster.Options{
		Binary: e.Localcluster, Dir: filepath.Join(options.Dir, "cluster"), Registry: options.Images, Log: options.Log,
	})
	if err != nil {
		return err
	}
	e.Kubeconfig, e.AuditLog = e.cluster.Kubeconfig(), e.cluster.AuditLog()
	if e.Config, err = adminConfig(e.Kubeconfig); err != nil {
		return err
	}
	end()
	return nil
}

// applyConfig applies the operator's manifests and waits until their kinds are served.
func (e *Env) applyConfig(ctx context.Context, options Options) error {
	end := options.Begin(ApplyConfig)
	apply := e.Apply
	if options.Images {
		apply = e.applyImages
	}
	if err := apply(ctx, options.Config); err != nil {
		return err
	}
	if err := e.waitEstablished(ctx); err != nil {
		return err
	}
	// What kubectl has remembered is from before the kinds were there, and it looks again for full names only.
	if err := os.RemoveAll(e.kubectlCache); err != nil {
		return fmt.Errorf("removing the cache of kubectl: %w", err)
	}
	end()
	return nil
}

// ClusterDone is closed when the control plane has ended, asked to or not.
func (e *Env) ClusterDone() <-chan struct{} { return e.cluster.Done() }

// ClusterErr is how the control plane has ended, once ClusterDone is closed.
func (e *Env) ClusterErr() error { return e.cluster.Err() }

// ClusterPID is the process ID of the control plane.
func (e *Env) ClusterPID() int { return e.cluster.PID() }

// waitEstablished waits until the API server serves every kind that the manifests define. kubectl apply returns before.
func (e *Env) waitEstablished(ctx context.Context) error {
	client, err := dynamic.NewForConfig(e.Config)
	if err != nil {
		return fmt.Errorf("making a client for the definitions: %w", err)
	}
	for _, object := range e.Manifests {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		err := await(ctx, client.Resource(definitions), object.GetName(), func(definition *unstructured.Unstructured) bool {
			return isTrue(definition, string(apiextensionsv1.Established))
		})
		if err != nil {
			return fmt.Errorf("waiting until the kind of %s is served: %w", object.GetName(), err)
		}
	}
	return nil
}

// await watches an object until it is as wanted.
func await(ctx context.Context, client dynamic.ResourceInterface, name string, wanted func(*unstructured.Unstructured) bool) error {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	list := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return client.Watch(ctx, o)
		},
	}
	_, err := watchtools.UntilWithSync(ctx, list, &unstructured.Unstructured{}, nil, func(event watch.Event) (bool, error) {
		object, ok := event.Object.(*unstructured.Unstructured)
		return ok && event.Type != watch.Deleted && wanted(object), nil
	})
	if err != nil {
		return fmt.Errorf("watching %s: %w", name, err)
	}
	return nil
}

func isTrue(object *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		if condition, ok := entry.(map[string]any); ok && condition["type"] == kind {
			return condition["status"] == "True"
		}
	}
	return false
}
