/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressableservice has what our constructor uses of its package, for a compilation in another repository.
package addressableservice

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	samplesv1 "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/typed/samples/v1"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
)

// Reconciler has the fields that the constructor sets.
type Reconciler struct {
	kube                kubernetes.Interface
	client              samplesv1.SamplesV1Interface
	addressableServices listers.AddressableServiceLister
	services            corev1listers.ServiceLister
	aliases             cache.Indexer
	namespaces          corev1listers.NamespaceLister
	addressables        duck.InformerFactory
	tracker             tracker.Interface
	directories         func() []string
	scope               string
}

const aliasesByOwner = "aliasOwner"

var addressableServiceKind, serviceKind, namespaceKind schema.GroupVersionKind

// ReconcileKind implements the generated Interface.
func (*Reconciler) ReconcileKind(context.Context, *v1.AddressableService) reconciler.Event {
	return nil
}

func (*Reconciler) watched(string) bool { return false }

func indexByOwner(any) ([]string, error) { return nil, nil }

func ownerOf(*corev1.Service) string { return "" }
