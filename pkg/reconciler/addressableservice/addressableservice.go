/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	serviceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/service"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/client/clientset/versioned"
	"github.com/mallard-dev/mallard/pkg/client/injection/client"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// Reconciler implements the generated reconciler's Interface and Finalizer. Its
// fields are set by NewController and not changed afterwards.
type Reconciler struct {
	kube                kubernetes.Interface
	samples             versioned.Interface
	addressableServices listers.AddressableServiceLister
	services            corev1listers.ServiceLister
	namespaces          corev1listers.NamespaceLister

	// aliases finds the aliases of an object, by the index aliasesByOwner.
	aliases observe.Lister[*corev1.Service]

	// scope is the only namespace that the informers watch; empty for all.
	scope string

	mapper       *restmapping.Mapper
	addressables *ducks.Factory
	failures     *failures.Failures
}

var (
	_ addressableservicereconciler.Interface = (*Reconciler)(nil)
	_ addressableservicereconciler.Finalizer = (*Reconciler)(nil)
	_ reconciler.OnDeletionInterface         = (*Reconciler)(nil)
)

func newReconciler(ctx context.Context, mapper *restmapping.Mapper, addressables *ducks.Factory) *Reconciler {
	return &Reconciler{
		kube:                kubeclient.Get(ctx),
		samples:             client.Get(ctx),
		addressableServices: addressableserviceinformer.Get(ctx).Lister(),
		services:            serviceinformer.Get(ctx).Lister(),
		namespaces:          namespaceinformer.Get(ctx).Lister(),
		aliases:             services.Lister(ctx),
		scope:               injection.GetNamespaceScope(ctx),
		mapper:              mapper,
		addressables:        addressables,
		failures:            failures.New(),
	}
}

// Reasons of Normal events. Warnings carry the reason of the condition that
// became False.
const (
	// EventTargetResolved: an address that was missing exists. An object that is Ready after its first reconciliation emits no event.
	EventTargetResolved = "TargetResolved"

	// EventPublished: an alias that could not be published is published.
	EventPublished = "Published"
)

// reported are the conditions whose changes are events.
var reported = []failures.Reported{{
	Condition: v1.AddressableServiceConditionTargetResolved,
	Reason:    EventTargetResolved,
	Message:   "The reference leads to an address again",
}, {
	Condition: v1.AddressableServiceConditionPublished,
	Reason:    EventPublished,
	Message:   "The alias points to the address",
	// An alias that could not be published may no longer be requested.
	Quiet: []string{v1.ReasonNotRequested},
}}

// ReconcileKind implements the generated Interface. It is called with a copy of
// an object of our class that is not being deleted; what it does to the status
// is written afterwards, in one request and only if something changed.
func (r *Reconciler) ReconcileKind(ctx context.Context, as *v1.AddressableService) reconciler.Event {
	if namespace, err := r.namespaces.Get(as.Namespace); err == nil && isTerminating(namespace) {
		// The object is about to be deleted, and its target with it: a status update would have no reader.
		return nil
	}
	recordEvents := failures.BeginEvents(as, reported)

	unresolved := r.reconcileTarget(ctx, as)
	unpublished := r.reconcileAlias(ctx, as)

	recordEvents(ctx)

	return r.failures.Outcome(as, unresolved, unpublished)
}

// FinalizeKind implements the generated Finalizer. It is called for an object of
// our class that is being deleted. A nil result takes the finalizer away, so it
// is returned only once no alias of the object is left.
func (r *Reconciler) FinalizeKind(ctx context.Context, as *v1.AddressableService) reconciler.Event {
	if !slices.Contains(as.Finalizers, samples.FinalizerName) {
		// The aliases are deleted, and the object waits for other finalizers.
		return nil
	}
	for _, directory := range sets.List(sets.New(as.Status.Directories()...).Insert(config.FromContextOrDefaults(ctx).DirectoryNamespace)) {
		if !r.watched(directory) {
			// This process publishes nothing there, and listing may be forbidden.
			continue
		}
		if err := r.removeEveryAlias(ctx, as, directory); err != nil {
			as.Status.MarkNotPublished(v1.ReasonUnpublishFailed, err.Error())
			// Deletion increments the generation, which nothing else reports as observed.
			as.Status.ObservedGeneration = as.Generation
			return r.failures.Outcome(as, failures.Failed(v1.ReasonUnpublishFailed, err))
		}
	}
	return nil
}

// ObserveDeletion implements reconciler.OnDeletionInterface. It is called when the cache does not have an object,
// which may leave aliases behind: its finalizer was removed by hand, or its namespace was finalized by force.
func (r *Reconciler) ObserveDeletion(ctx context.Context, key types.NamespacedName) error {
	aliases := r.cachedAliases(config.FromContextOrDefaults(ctx).DirectoryNamespace, key)
	if len(aliases) == 0 || !r.watched(key.Namespace) {
		return nil
	}
	_, err := r.samples.SamplesV1().AddressableServices(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		// The cache is stale, and the event of the object enqueues it.
		return nil
	case !apierrors.IsNotFound(err) || apierrors.IsUnexpectedServerError(err):
		return fmt.Errorf("checking that AddressableService %s is deleted: %w", key, err)
	}
	return r.removeAliases(ctx, aliases)
}

func (r *Reconciler) reconcileTarget(ctx context.Context, as *v1.AddressableService) *failures.Failure {
	addresses, hops, p := r.resolve(ctx, as)
	switch {
	case p == nil:
		as.Status.MarkTargetResolved(addresses)
		as.Status.SetHops(hops)
	case p.Reason == v1.ReasonTargetNotSynced && as.Status.ObservedGeneration == as.Generation:
		// After a restart or a takeover the status stays valid until the list has completed.
	case p.Reason == v1.ReasonTargetNotSynced, p.Reason == v1.ReasonTargetForbidden, p.Reason == v1.ReasonTargetUnavailable,
		p.Reason == v1.ReasonTargetPortUnknown:
		as.Status.MarkTargetUnknown(p.Reason, p.Message)
	default:
		as.Status.MarkTargetNotResolved(p.Reason, p.Message)
	}
	return p
}

func keyOf(as *v1.AddressableService) types.NamespacedName {
	return types.NamespacedName{Namespace: as.Namespace, Name: as.Name}
}

func isTerminating(namespace *corev1.Namespace) bool {
	return namespace.DeletionTimestamp != nil
}
