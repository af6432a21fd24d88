/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// removeAliasesBut removes the aliases of this object, as the cache has them, that
// are not the wanted one: after the alias was renamed, the directory moved, or
// nothing is to be published. One that the cache does not have yet wakes its
// owner when it arrives.
func (r *Reconciler) removeAliasesBut(ctx context.Context, as *v1.AddressableService, wanted *corev1.Service) error {
	for _, alias := range r.cachedAliases(as) {
		if wanted != nil && alias.Namespace == wanted.Namespace && alias.Name == wanted.Name {
			continue
		}
		if err := r.removeAlias(ctx, alias); err != nil {
			return err
		}
	}
	return nil
}

// removeEveryAlias removes all aliases of an object that is about to go. Nobody
// will look again, so the directory is listed live: the cache may not have an
// alias yet that was made a moment before.
func (r *Reconciler) removeEveryAlias(ctx context.Context, as *v1.AddressableService) error {
	if err := r.removeAliasesBut(ctx, as, nil); err != nil {
		return err
	}
	directory := config.FromContextOrDefaults(ctx).DirectoryNamespace
	if !r.watched(directory) {
		// Nothing is published there, and it may not even be listed.
		return nil
	}
	live, err := r.kube.CoreV1().Services(directory).List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{samples.AliasOwnerUIDLabelKey: string(as.UID)}).String(),
	})
	if err != nil {
		return fmt.Errorf("listing the aliases in namespace %s: %w", directory, err)
	}
	for i := range live.Items {
		alias := &live.Items[i]
		if !owns(as, alias) {
			continue
		}
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

func (r *Reconciler) cachedAliases(as *v1.AddressableService) []*corev1.Service {
	// The index exists as long as NewController adds it; an unknown one is the only error.
	objs, err := r.aliases.ByIndex(aliasesByOwnerUID, string(as.UID))
	if err != nil {
		panic(fmt.Sprintf("index %s: %v", aliasesByOwnerUID, err))
	}
	aliases := make([]*corev1.Service, 0, len(objs))
	for _, obj := range objs {
		if alias, ok := obj.(*corev1.Service); ok && owns(as, alias) {
			aliases = append(aliases, alias)
		}
	}
	return aliases
}

func isTerminating(namespace *corev1.Namespace) bool {
	return namespace.DeletionTimestamp != nil
}
