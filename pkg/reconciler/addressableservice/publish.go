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

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// reconcileAlias publishes the address as spec.publish requests. An alias is deleted only once it is no
// longer requested, and a former name only once the new one is published: another object may take a
// free name at once, and keep it.
func (r *Reconciler) reconcileAlias(ctx context.Context, as *v1.AddressableService) *failures.Failure {
	wanted, p := planAlias(config.FromContextOrDefaults(ctx), as)
	if wanted != nil {
		p = r.ensureAlias(ctx, as, wanted)
	}
	if p == nil {
		p = r.removeAliasesBut(ctx, as, wanted)
	}
	switch {
	case p.Marked():
		as.Status.MarkNotPublished(p.Reason, p.Message)
	case p != nil:
		// The condition stays until the retry.
	case wanted == nil:
		as.Status.MarkNotRequested()
	default:
		as.Status.MarkPublished()
	}
	return p
}

// ensureAlias writes the alias unless the cache has it as it should be. If the write shows that the cache is
// stale, ensureAlias reads the live object and decides again.
func (r *Reconciler) ensureAlias(ctx context.Context, as *v1.AddressableService, wanted *corev1.Service) *failures.Failure {
	if !r.watched(wanted.Namespace) {
		return failures.Newf(v1.ReasonDirectoryNotFound,
			"the directory namespace %q is not watched: this installation is for namespace %q alone, which directory-namespace in ConfigMap %s has to name",
			wanted.Namespace, r.scope, config.AddressableName)
	}
	existing, err := r.services.Services(wanted.Namespace).Get(wanted.Name)
	p := r.writeAlias(ctx, as, wanted, existing, err)
	if p != nil && (apierrors.IsAlreadyExists(p.Err) || apierrors.IsConflict(p.Err) || apierrors.IsNotFound(p.Err)) {
		existing, err = r.kube.CoreV1().Services(wanted.Namespace).Get(ctx, wanted.Name, metav1.GetOptions{})
		p = r.writeAlias(ctx, as, wanted, existing, err)
	}
	return p
}

// writeAlias creates the alias, or corrects the existing one if it is ours. The update carries the
// resourceVersion of the existing one, so that it cannot change an alias whose owner has changed.
func (r *Reconciler) writeAlias(ctx context.Context, as *v1.AddressableService, wanted, existing *corev1.Service, err error) *failures.Failure {
	client := r.kube.CoreV1().Services(wanted.Namespace)
	switch {
	case apierrors.IsNotFound(err):
		if p := r.checkDirectory(wanted.Namespace); p != nil {
			return p
		}
		if _, err = client.Create(ctx, wanted, metav1.CreateOptions{}); apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return directoryTerminating(wanted.Namespace)
		} else if apierrors.IsNotFound(err) {
			// The cache has the namespace, so its deletion may have been the last event, or the response is wrong.
			p := directoryNotFound(wanted.Namespace)
			p.Recheck = failures.FirstRecheck
			return p
		}
	case err == nil && !owns(as, existing):
		return aliasTaken(existing)
	case err == nil:
		if corrected, ok := correctAlias(existing, wanted); !ok {
			_, err = client.Update(ctx, corrected, metav1.UpdateOptions{})
		}
	}
	if err != nil {
		return failures.Failed(v1.ReasonPublishFailed, fmt.Errorf("publishing alias %s/%s: %w", wanted.Namespace, wanted.Name, err))
	}
	return nil
}

// checkDirectory tells a directory that is missing from one that may not be
// written to, which the API server's answer would not: it checks permissions,
// and a Role in the directory goes away with it, before it looks for the namespace.
func (r *Reconciler) checkDirectory(directory string) *failures.Failure {
	namespace, err := r.namespaces.Get(directory)
	switch {
	case apierrors.IsNotFound(err):
		return directoryNotFound(directory)
	case err != nil:
		return failures.Failed(v1.ReasonPublishFailed, fmt.Errorf("reading namespace %s: %w", directory, err))
	case isTerminating(namespace):
		return directoryTerminating(directory)
	}
	return nil
}

func directoryNotFound(directory string) *failures.Failure {
	return failures.Newf(v1.ReasonDirectoryNotFound,
		"the directory namespace %q does not exist; it is directory-namespace in ConfigMap %s", directory, config.AddressableName)
}

func directoryTerminating(directory string) *failures.Failure {
	return failures.Newf(v1.ReasonDirectoryTerminating, "the directory namespace %q is being deleted", directory)
}
