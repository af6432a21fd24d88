/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	samplesv1 "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/typed/samples/v1"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/pkg/failures"
)

// Reconciler implements the generated reconciler's Interface and Finalizer. Its fields are set by NewController and not changed afterwards.
type Reconciler struct {
	kube                kubernetes.Interface
	client              samplesv1.SamplesV1Interface
	addressableServices listers.AddressableServiceLister
	services            corev1listers.ServiceLister
	aliases             cache.Indexer // the cache of Services, with the index aliasesByOwner
	namespaces          corev1listers.NamespaceLister
	addressables        duck.InformerFactory // of kinds that are known only from references
	tracker             tracker.Interface
	directories         func() []string // that the process knows
	scope               string          // the only namespace that the informers watch; empty for all
}

var (
	_ addressableservicereconciler.Interface = (*Reconciler)(nil)
	_ addressableservicereconciler.Finalizer = (*Reconciler)(nil)
	_ reconciler.OnDeletionInterface         = (*Reconciler)(nil)

	addressableServiceKind = v1.SchemeGroupVersion.WithKind("AddressableService")
	serviceKind            = corev1.SchemeGroupVersion.WithKind("Service")
	namespaceKind          = corev1.SchemeGroupVersion.WithKind("Namespace")
)

// Reasons of Normal events. Warnings carry the reason of the condition that became False.
const (
	// EventTargetResolved: an address that was missing exists. An object that is Ready after its first reconciliation emits no event.
	EventTargetResolved = "TargetResolved"
	// EventPublished: an alias that could not be published is published.
	EventPublished = "Published"
)

// reported are the conditions whose changes are events.
var reported = []failures.Reported{
	{Condition: v1.AddressableServiceConditionTargetResolved, Reason: EventTargetResolved, Message: "The reference leads to an address again"},
	{Condition: v1.AddressableServiceConditionPublished, Reason: EventPublished, Message: "The alias points to the address"},
}

// ReconcileKind implements the generated Interface. It is called with a copy of an object of our class that is not being deleted; what it does to
// the status is written afterwards, in one request and only if something changed.
func (r *Reconciler) ReconcileKind(ctx context.Context, as *v1.AddressableService) reconciler.Event {
	if err := r.track(as, namespaceKind, "", as.Namespace); err != nil {
		return err
	}
	if namespace, err := r.namespaces.Get(as.Namespace); err == nil && namespace.DeletionTimestamp != nil {
		return nil // the object is about to be deleted, and its target with it: a status update would have no reader
	}
	end := failures.Begin(as, reported)
	unresolved := r.reconcileTarget(ctx, as)
	unpublished := r.reconcileAlias(ctx, as)
	return end(ctx, unresolved, unpublished)
}

// FinalizeKind implements the generated Finalizer. It is called for an object of our class that is being deleted. A nil result takes the finalizer
// away, so it is returned only once no alias of the object is left.
func (r *Reconciler) FinalizeKind(ctx context.Context, as *v1.AddressableService) reconciler.Event {
	if !slices.Contains(as.Finalizers, samples.FinalizerName) {
		return nil // the aliases are deleted, and the object waits for other finalizers
	}
	end := failures.Begin(as, reported)
	_, err := r.unpublish(ctx, as, nil)
	if err == nil {
		return nil
	}
	as.Status.MarkNotPublished(v1.ReasonUnpublishFailed, err.Error())
	as.Status.ObservedGeneration = as.Generation // the deletion has incremented it, which nothing else reports as observed
	return end(ctx, failures.Failed(v1.ReasonUnpublishFailed, err))
}

// ObserveDeletion implements reconciler.OnDeletionInterface. It deletes an alias that another leader, whose cache was stale, has published after the
// owner was finalized. It reads the owner first, since our cache may be the stale one.
func (r *Reconciler) ObserveDeletion(ctx context.Context, key types.NamespacedName) error {
	aliases := r.unwanted(cache.ObjectName(key), nil, nil)
	if len(aliases) > 0 {
		if _, err := r.client.AddressableServices(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return err //nolint:wrapcheck // it names the object
		}
	}
	return r.removeAliases(ctx, aliases)
}

// reconcileTarget writes the addresses that the reference leads to into the status. Only a positive answer removes them.
func (r *Reconciler) reconcileTarget(ctx context.Context, as *v1.AddressableService) *failures.Failure {
	var addresses []duckv1.Addressable
	found, p := r.find(ctx, as)
	if p == nil {
		addresses, p = planAddresses(config.FromContextOrDefaults(ctx), as, found)
	}
	switch {
	case p == nil:
		as.Status.MarkTargetResolved(addresses)
	case p.Err != nil && failures.StatusCode(p.Err) == 0 && as.Status.ObservedGeneration == as.Generation:
		// The status stays valid, for example until the first list of a kind has completed.
	case p.Reason == v1.ReasonTargetForbidden, p.Reason == v1.ReasonTargetUnavailable, p.Reason == v1.ReasonTargetPortUnknown:
		as.Status.MarkTargetUnknown(p.Reason, p.Message)
	default:
		as.Status.MarkTargetNotResolved(p.Reason, p.Message)
	}
	return p
}

// track has a change of an object enqueue as. It is called before that object is read.
func (r *Reconciler) track(as *v1.AddressableService, kind schema.GroupVersionKind, namespace, name string) error {
	ref := tracker.Reference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: namespace, Name: name}
	return r.tracker.TrackReference(ref, as) //nolint:wrapcheck // it names the reference
}

// watched reports whether the informers watch a namespace.
func (r *Reconciler) watched(namespace string) bool { return r.scope == "" || r.scope == namespace }
