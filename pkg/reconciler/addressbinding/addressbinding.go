/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"

	"k8s.io/client-go/dynamic"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/keymutex"

	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/pkg/duckinformer"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/problem"
	"github.com/mallard-dev/mallard/pkg/since"
	"github.com/mallard-dev/mallard/pkg/transitions"
)

// Reconciler implements the generated reconciler's Interface and Finalizer. Its
// fields are set by NewController and not changed afterwards.
type Reconciler struct {
	dynamic             dynamic.Interface
	bindings            listers.AddressBindingLister
	addressableServices listers.AddressableServiceLister
	namespaces          corev1listers.NamespaceLister
	webhooks            admissionlisters.MutatingWebhookConfigurationLister

	kinds    *kinds.Finder
	tracker  tracker.Interface
	failures *problem.Failures

	// subjects make the informers that hold the objects of a shape.
	subjects map[binding.Shape]*duckinformer.Factory

	// written is what the caches do not have yet.
	written *written
	// patching is locked by subject: two bindings may want to change one at a time.
	patching keymutex.KeyMutex
	// unused are entries of status.bound that are of no use.
	unused *since.Memory[listing]
	// troubles are why subjects do not have what they are to have, and nobody tells of their end.
	troubles *problem.Troubles
	// refused are states of subjects of which the API server says that they are not what there is.
	refused *since.Memory[state]
}

var (
	_ addressbindingreconciler.Interface = (*Reconciler)(nil)
	_ addressbindingreconciler.Finalizer = (*Reconciler)(nil)
)

// ReconcileKind implements the generated Interface. It is called with a copy of a binding that is not being deleted; what it
// does to the status is written afterwards, in one request and only if something changed.
func (r *Reconciler) ReconcileKind(ctx context.Context, ab *v1.AddressBinding) reconciler.Event {
	changes := transitions.Begin(ab, reported)

	before := ab.Status.Value
	unresolved := r.reconcileAddress(ab)
	own, unbound := r.reconcileSubjects(ctx, ab, before != ab.Status.Value)
	r.reconcileInterception(ab, own)

	changes.Record(ctx)

	return r.failures.Outcome(ab, unresolved, unbound)
}

// FinalizeKind implements the generated Finalizer. It is called for a binding that is being deleted. A nil result takes the
// finalizer away, so it is returned only once nothing of the binding is left in any object.
func (r *Reconciler) FinalizeKind(ctx context.Context, ab *v1.AddressBinding) reconciler.Event {
	changes := transitions.Begin(ab, reported)
	p := r.unbind(ctx, ab)
	if p == nil {
		return nil
	}
	if p.Reason != "" {
		ab.Status.MarkSubjectsNotBound(p.Reason, p.Message)
		// Deleting made a new generation, which nobody else says that it was seen.
		ab.Status.ObservedGeneration = ab.Generation
		changes.Record(ctx)
	}
	return r.failures.Outcome(ab, p)
}
