/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/failures"
)

// aliasesByOwner is the name of the index that finds Services by their namespace and the object of which they claim to be aliases.
const aliasesByOwner = "aliasOwner"

// planAlias decides the alias of an object, nil if none is requested. It is pure, and reads the address that the status has by then.
func planAlias(cfg *config.Addressable, as *v1.AddressableService) (*corev1.Service, *failures.Failure) {
	switch {
	case as.Spec.Publish == nil:
		return nil, nil
	case as.Status.Address == nil:
		return nil, failures.Newf(v1.ReasonNoAddress, "there is no address to publish; an existing alias stays as it is")
	}
	host := as.Status.Address.URL.URL().Hostname()
	if net.ParseIP(host) != nil || len(validation.IsDNS1123Subdomain(host)) > 0 {
		return nil, failures.Newf(v1.ReasonHostNotPublishable, "an ExternalName Service cannot point to host %q, which is no DNS name", host)
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   cfg.DirectoryNamespace,
			Name:        as.Spec.Publish.Alias,
			Labels:      map[string]string{samples.AliasOwnerUIDLabelKey: string(as.UID)},
			Annotations: map[string]string{samples.AliasOwnerAnnotationKey: cache.MetaObjectToName(as).String()},
		},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host},
	}, nil
}

// owns reports whether a Service is an alias of this object, or of a deleted object of the same name whose finalizer was removed by hand.
// Owner references cannot cross namespaces, so a label with the UID and an annotation with namespace and name replace them.
func owns(as *v1.AddressableService, service *corev1.Service) bool {
	uid := service.Labels[samples.AliasOwnerUIDLabelKey]
	return uid != "" && (uid == string(as.UID) || ownerOf(service) == cache.MetaObjectToName(as).String())
}

// ownerOf returns namespace and name of the object that published an alias, or "" for another Service.
func ownerOf(service *corev1.Service) string {
	if service.Labels[samples.AliasOwnerUIDLabelKey] == "" {
		return ""
	}
	return service.Annotations[samples.AliasOwnerAnnotationKey]
}

// indexByOwner implements cache.IndexFunc.
func indexByOwner(obj any) ([]string, error) {
	service := obj.(*corev1.Service) //nolint:forcetypeassert // a cache of Services
	if ownerOf(service) == "" {
		return nil, nil
	}
	return []string{service.Namespace + "/" + ownerOf(service)}, nil
}

// unwanted returns the aliases of an object in the cache except the wanted one. Services outside of the directories may claim to be aliases.
func (r *Reconciler) unwanted(owner cache.ObjectName, recorded []string, wanted *corev1.Service) (aliases []corev1.Service) {
	for _, directory := range sets.List(sets.New(r.directories()...).Insert(recorded...)) {
		found, _ := r.aliases.ByIndex(aliasesByOwner, directory+"/"+owner.String()) // The index exists.
		for _, obj := range found {
			alias := obj.(*corev1.Service) //nolint:forcetypeassert // a cache of Services
			if wanted == nil || alias.Namespace != wanted.Namespace || alias.Name != wanted.Name {
				aliases = append(aliases, *alias)
			}
		}
	}
	return aliases
}

// reconcileAlias publishes the address as spec.publish requests. An alias is deleted only once it is no longer requested, and a former name
// only once the new one is published: another object may take a free name at once, and keep it.
func (r *Reconciler) reconcileAlias(ctx context.Context, as *v1.AddressableService) *failures.Failure {
	wanted, p := planAlias(config.FromContextOrDefaults(ctx), as)
	if recorded := as.Status.Directories(); wanted != nil && r.watched(wanted.Namespace) && !slices.Contains(recorded, wanted.Namespace) {
		// The status is written before the alias, and its event enqueues the object. A failure is reported until the alias exists.
		as.Status.SetDirectories(append(recorded, wanted.Namespace))
		if !as.Status.GetCondition(v1.AddressableServiceConditionPublished).IsFalse() {
			as.Status.MarkNotPublished(v1.ReasonPublishing, "the alias follows once the status records its namespace")
		}
		return nil
	}
	if wanted != nil {
		p = r.publish(ctx, as, wanted)
	}
	if p == nil {
		directories, err := r.unpublish(ctx, as, wanted)
		if as.Status.SetDirectories(directories); err != nil {
			p = failures.Failed(v1.ReasonPublishFailed, err)
		}
	}
	switch {
	case p != nil && (!p.Marked() || apierrors.IsAlreadyExists(p.Err) || apierrors.IsNotFound(p.Err)):
		// The cache is stale, so the condition stays until the retry.
	case p != nil:
		as.Status.MarkNotPublished(p.Reason, p.Message)
	case wanted == nil:
		as.Status.MarkNotRequested()
	default:
		as.Status.MarkPublished()
	}
	return p
}

// publish creates the alias, or corrects the existing one if it is ours. The update carries the resourceVersion of the existing one, so that it
// cannot change an alias whose owner has changed.
func (r *Reconciler) publish(ctx context.Context, as *v1.AddressableService, wanted *corev1.Service) *failures.Failure {
	if err := errors.Join(r.track(as, serviceKind, wanted.Namespace, wanted.Name), r.track(as, namespaceKind, "", wanted.Namespace)); err != nil {
		return failures.Newf(v1.ReasonPublishFailed, "%v", err)
	}
	client := r.kube.CoreV1().Services(wanted.Namespace)
	existing, err := r.services.Services(wanted.Namespace).Get(wanted.Name)
	switch {
	case apierrors.IsNotFound(err):
		if p := r.checkDirectory(wanted.Namespace); p != nil {
			return p
		}
		_, err = client.Create(ctx, wanted, metav1.CreateOptions{})
	case err == nil && !owns(as, existing):
		return failures.Newf(v1.ReasonAliasTaken, "Service %s/%s exists and belongs to %s",
			existing.Namespace, existing.Name, cmp.Or(ownerOf(existing), "another client"))
	case err == nil:
		corrected := existing.DeepCopy() // labels, annotations and other fields of others stay
		corrected.Spec.Type, corrected.Spec.ExternalName = wanted.Spec.Type, wanted.Spec.ExternalName
		corrected.Labels, corrected.Annotations = kmeta.UnionMaps(existing.Labels, wanted.Labels), kmeta.UnionMaps(existing.Annotations, wanted.Annotations)
		if !equality.Semantic.DeepEqual(existing, corrected) {
			_, err = client.Update(ctx, corrected, metav1.UpdateOptions{})
		}
	}
	if err != nil {
		return failures.Failed(v1.ReasonPublishFailed, fmt.Errorf("publishing alias %s/%s: %w", wanted.Namespace, wanted.Name, err))
	}
	return nil
}

// checkDirectory distinguishes a missing directory from a missing permission to write to it. The response of the API server does not: it
// checks permissions before it looks for the namespace, and a Role in the directory is deleted together with it.
func (r *Reconciler) checkDirectory(directory string) *failures.Failure {
	switch namespace, err := r.namespaces.Get(directory); {
	case !r.watched(directory):
		return failures.Newf(v1.ReasonDirectoryNotFound, "the directory namespace %q is not watched: this installation is for namespace %q alone, "+
			"which directory-namespace in ConfigMap %s has to name", directory, r.scope, config.AddressableName)
	case err != nil:
		return failures.Newf(v1.ReasonDirectoryNotFound,
			"the directory namespace %q does not exist; it is directory-namespace in ConfigMap %s", directory, config.AddressableName)
	case namespace.DeletionTimestamp != nil:
		return failures.Newf(v1.ReasonDirectoryTerminating, "the directory namespace %q is being deleted", directory)
	}
	return nil
}

// unpublish deletes the aliases of this object except the wanted one, and returns the directories that may still have one. In directories that the
// process knows, the cache has them, or enqueues the owner later. Recorded ones are also listed live, the current one before the object is deleted.
func (r *Reconciler) unpublish(ctx context.Context, as *v1.AddressableService, wanted *corev1.Service) ([]string, error) {
	left, current := as.Status.Directories(), config.FromContextOrDefaults(ctx).DirectoryNamespace
	if err := r.removeAliases(ctx, r.unwanted(cache.MetaObjectToName(as), left, wanted)); err != nil {
		return left, err
	}
	for _, directory := range as.Status.Directories() {
		if directory == current && as.DeletionTimestamp == nil || !r.watched(directory) {
			continue
		}
		live, err := r.kube.CoreV1().Services(directory).List(ctx, metav1.ListOptions{LabelSelector: samples.AliasOwnerUIDLabelKey + "=" + string(as.UID)})
		if err != nil {
			return left, fmt.Errorf("listing the aliases in namespace %s: %w", directory, err)
		}
		if err := r.removeAliases(ctx, live.Items); err != nil {
			return left, err
		}
		left = slices.DeleteFunc(left, func(d string) bool { return d == directory })
	}
	return left, nil
}

// removeAliases deletes aliases, unless they have changed since they were looked at.
func (r *Reconciler) removeAliases(ctx context.Context, aliases []corev1.Service) error {
	for _, alias := range aliases {
		err := r.kube.CoreV1().Services(alias.Namespace).Delete(ctx, alias.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &alias.UID, ResourceVersion: &alias.ResourceVersion},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting alias %s/%s: %w", alias.Namespace, alias.Name, err)
		}
	}
	return nil
}
