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
	"github.com/mallard-dev/mallard/pkg/problem"
)

// reconcileAlias makes the directory hold what spec.publish asks for and nothing
// else of this object.
func (r *Reconciler) reconcileAlias(ctx context.Context, as *v1.AddressableService) *problem.Problem {
	wanted, p := planAlias(config.FromContextOrDefaults(ctx), as)

	// Before anything new is published: an object has one alias at a time.
	if err := r.removeAliasesBut(ctx, as, wanted); err != nil {
		as.Status.MarkNotPublished(v1.ReasonPublishFailed, err.Error())
		return problem.Failed(v1.ReasonPublishFailed, err)
	}

	switch {
	case as.Spec.Publish == nil:
		as.Status.MarkNotRequested()
		return nil
	case p == nil && wanted == nil:
		as.Status.MarkNoAddressToPublish()
		return nil
	case p == nil:
		p = r.ensureAlias(ctx, as, wanted)
	}
	if p != nil {
		as.Status.MarkNotPublished(p.Reason, p.Message)
		return p
	}
	as.Status.MarkPublished()
	return nil
}

// ensureAlias writes the alias unless the cache has it as it should be.
func (r *Reconciler) ensureAlias(ctx context.Context, as *v1.AddressableService, wanted *corev1.Service) *problem.Problem {
	if !r.watched(wanted.Namespace) {
		return problem.Newf(v1.ReasonDirectoryNotFound,
			"the directory namespace %q is not watched: this installation is for namespace %q alone, which directory-namespace in config map %s has to name",
			wanted.Namespace, r.scope, config.AddressableName)
	}
	existing, err := r.services.Services(wanted.Namespace).Get(wanted.Name)
	if apierrors.IsNotFound(err) {
		if p := r.checkDirectory(wanted.Namespace); p != nil {
			return p
		}
		return r.createAlias(ctx, as, wanted)
	}
	if err != nil {
		return problem.Failed(v1.ReasonPublishFailed, fmt.Errorf("reading alias %s/%s: %w", wanted.Namespace, wanted.Name, err))
	}
	return r.adjustAlias(ctx, as, wanted, existing)
}

func (r *Reconciler) createAlias(ctx context.Context, as *v1.AddressableService, wanted *corev1.Service) *problem.Problem {
	client := r.kube.CoreV1().Services(wanted.Namespace)
	_, err := client.Create(ctx, wanted, metav1.CreateOptions{})
	switch {
	case err == nil:
		return nil
	case apierrors.IsAlreadyExists(err):
		// The cache is behind: it may be ours from a pass that did not get to
		// its end, or somebody was first.
		existing, err := client.Get(ctx, wanted.Name, metav1.GetOptions{})
		if err != nil {
			return problem.Failed(v1.ReasonPublishFailed, fmt.Errorf("reading alias %s/%s: %w", wanted.Namespace, wanted.Name, err))
		}
		return r.adjustAlias(ctx, as, wanted, existing)
	case apierrors.IsNotFound(err):
		return directoryNotFound(wanted.Namespace)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return directoryTerminating(wanted.Namespace)
	default:
		return problem.Failed(v1.ReasonPublishFailed, fmt.Errorf("creating alias %s/%s: %w", wanted.Namespace, wanted.Name, err))
	}
}

// adjustAlias corrects an alias of ours that points elsewhere, and leaves alone
// what is not ours. The update carries the resourceVersion that was looked at,
// so that it cannot hit an alias which has changed hands since.
func (r *Reconciler) adjustAlias(ctx context.Context, as *v1.AddressableService, wanted, existing *corev1.Service) *problem.Problem {
	if !owns(as, existing) && !ownedBefore(as, existing) {
		return aliasTaken(existing)
	}
	corrected, ok := correctAlias(existing, wanted)
	if ok {
		return nil
	}
	if _, err := r.kube.CoreV1().Services(wanted.Namespace).Update(ctx, corrected, metav1.UpdateOptions{}); err != nil {
		return problem.Failed(v1.ReasonPublishFailed, fmt.Errorf("updating alias %s/%s: %w", wanted.Namespace, wanted.Name, err))
	}
	return nil
}

// checkDirectory tells a directory that is missing from one that may not be
// written to, which the API server's answer would not: it checks permissions,
// and a Role in the directory goes away with it, before it looks for the namespace.
func (r *Reconciler) checkDirectory(directory string) *problem.Problem {
	namespace, err := r.namespaces.Get(directory)
	switch {
	case apierrors.IsNotFound(err):
		return directoryNotFound(directory)
	case err != nil:
		return problem.Failed(v1.ReasonPublishFailed, fmt.Errorf("reading namespace %s: %w", directory, err))
	case isTerminating(namespace):
		return directoryTerminating(directory)
	}
	return nil
}

func directoryNotFound(directory string) *problem.Problem {
	return problem.Newf(v1.ReasonDirectoryNotFound,
		"the directory namespace %q does not exist; it is directory-namespace in config map %s", directory, config.AddressableName)
}

func directoryTerminating(directory string) *problem.Problem {
	return problem.Newf(v1.ReasonDirectoryTerminating, "the directory namespace %q is being deleted", directory)
}
