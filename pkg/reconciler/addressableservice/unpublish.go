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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/triggers"
)

var _ reconciler.OnDeletionInterface = (*Reconciler)(nil)

// ObserveDeletion implements reconciler.OnDeletionInterface. It is called when the cache does not have an object,
// which may leave aliases behind: its finalizer was removed by hand, or its namespace was finalized by force.
func (r *Reconciler) ObserveDeletion(ctx context.Context, key types.NamespacedName) error {
	aliases := r.cachedAliases(key)
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

// removeAliasesBut removes the aliases of this object, as the cache has them, except the wanted one: after
// the alias was renamed, the directory moved, or publish was unset. An alias that the cache does not have
// yet enqueues its owner when it is delivered.
func (r *Reconciler) removeAliasesBut(ctx context.Context, as *v1.AddressableService, wanted *corev1.Service) *failures.Failure {
	others := slices.DeleteFunc(r.cachedAliases(keyOf(as)), func(alias *corev1.Service) bool {
		return wanted != nil && alias.Namespace == wanted.Namespace && alias.Name == wanted.Name
	})
	if err := r.removeAliases(ctx, others); err != nil {
		return failures.Failed(v1.ReasonPublishFailed, err)
	}
	return nil
}

// removeEveryAlias removes all aliases of an object that is being deleted. There is no later
// reconciliation, so the directory is listed live: the cache may not have the latest alias yet.
func (r *Reconciler) removeEveryAlias(ctx context.Context, as *v1.AddressableService) error {
	if err := r.removeAliases(ctx, r.cachedAliases(keyOf(as))); err != nil {
		return err
	}
	directory := config.FromContextOrDefaults(ctx).DirectoryNamespace
	if !r.watched(directory) {
		// Nothing is published there, and listing may be forbidden.
		return nil
	}
	live, err := r.kube.CoreV1().Services(directory).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{samples.AliasOwnerUIDLabelKey: string(as.UID)}).String(),
	})
	if err != nil {
		return fmt.Errorf("listing the aliases in namespace %s: %w", directory, err)
	}
	aliases := make([]*corev1.Service, 0, len(live.Items))
	for i := range live.Items {
		aliases = append(aliases, &live.Items[i])
	}
	return r.removeAliases(ctx, aliases)
}

func (r *Reconciler) removeAliases(ctx context.Context, aliases []*corev1.Service) error {
	for _, alias := range aliases {
		if err := r.removeAlias(ctx, alias); err != nil {
			return err
		}
	}
	return nil
}

// removeAlias deletes one alias, unless it has changed since it was looked at.
// One in a namespace that is being deleted goes with that. One that may not be
// deleted, outside of the directory, is not ours whatever its labels say: only in
// a directory are we given the permission.
func (r *Reconciler) removeAlias(ctx context.Context, alias *corev1.Service) error {
	if namespace, err := r.namespaces.Get(alias.Namespace); err == nil && isTerminating(namespace) {
		return nil
	}
	err := r.kube.CoreV1().Services(alias.Namespace).Delete(ctx, alias.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &alias.UID, ResourceVersion: &alias.ResourceVersion},
	})
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err) && alias.Namespace != config.FromContextOrDefaults(ctx).DirectoryNamespace:
		logging.FromContext(ctx).Infof("Service %s/%s is labelled as an alias but is outside of the directory; left alone",
			alias.Namespace, alias.Name)
		return nil
	default:
		return fmt.Errorf("deleting alias %s/%s: %w", alias.Namespace, alias.Name, err)
	}
}

func (r *Reconciler) cachedAliases(owner types.NamespacedName) []*corev1.Service {
	return triggers.Indexed[*corev1.Service](r.aliases, aliasesByOwner, owner.String())
}

func keyOf(as *v1.AddressableService) types.NamespacedName {
	return types.NamespacedName{Namespace: as.Namespace, Name: as.Name}
}

func isTerminating(namespace *corev1.Namespace) bool {
	return namespace.DeletionTimestamp != nil
}
