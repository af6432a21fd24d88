/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// establishedPeriod is the interval at which kinds that are not served yet are checked.
const establishedPeriod = 50 * time.Millisecond

// startCluster builds and starts the control plane.
func (e *Env) startCluster(ctx context.Context, options Options) error {
	end := options.Begin(BuildCluster)
	var err error
	if e.Localcluster, err = controlplane.Build(ctx, options.Progress); err != nil {
		return err
	}
	end()
	end = options.Begin(StartCluster)
	e.cluster, err = controlplane.Start(ctx, controlplane.Options{
		Binary: e.Localcluster, Dir: filepath.Join(options.Dir, "cluster"), Registry: options.Images,
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
	switch {
	case options.Images:
		apply = e.applyImages
	case options.Existing != nil:
		apply = e.install
	}
	for _, folder := range options.Config {
		if err := apply(ctx, folder); err != nil {
			return err
		}
	}
	if err := e.waitEstablished(ctx); err != nil {
		return err
	}
	// kubectl's discovery cache is older than the kinds, and is refreshed for full names only.
	if err := os.RemoveAll(e.kubectlCache); err != nil {
		return fmt.Errorf("removing the cache of kubectl: %w", err)
	}
	end()
	return nil
}

// ClusterDone is closed when the control plane has ended, asked to or not. It is nil for an existing cluster.
func (e *Env) ClusterDone() <-chan struct{} {
	if e.cluster == nil {
		return nil
	}
	return e.cluster.Done()
}

// ClusterErr returns the exit error of the control plane, once ClusterDone is closed.
func (e *Env) ClusterErr() error { return e.cluster.Err() }

// ClusterPID is the process ID of the control plane, which must be one that Start has started.
func (e *Env) ClusterPID() int { return e.cluster.PID() }

// waitEstablished waits until the API server serves every kind that the manifests define. kubectl apply returns before.
func (e *Env) waitEstablished(ctx context.Context) error {
	client, err := apiextensions.NewForConfig(e.Config)
	if err != nil {
		return fmt.Errorf("creating a client for CRDs: %w", err)
	}
	pending := func(crd apiextensionsv1.CustomResourceDefinition) bool {
		ours := slices.ContainsFunc(e.Manifests, func(o *unstructured.Unstructured) bool { return o.GetName() == crd.Name })
		return ours && !apihelpers.IsCRDConditionTrue(&crd, apiextensionsv1.Established)
	}
	waitsFor := "every CRD"
	err = wait.PollUntilContextCancel(ctx, establishedPeriod, true, func(ctx context.Context) (bool, error) {
		list, err := client.ApiextensionsV1().CustomResourceDefinitions().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, fmt.Errorf("listing the CRDs: %w", err)
		}
		i := slices.IndexFunc(list.Items, pending)
		if i >= 0 {
			waitsFor = list.Items[i].Name
		}
		return i < 0, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until the kind of %s is served: %w", waitsFor, cmp.Or(context.Cause(ctx), err))
	}
	return nil
}
