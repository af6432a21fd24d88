/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"fmt"
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// planAlias decides the alias of an object, nil if none is requested. It is pure, and reads the address that the status has by then.
func planAlias(cfg *config.Addressable, as *v1.AddressableService) (*corev1.Service, *failures.Failure) {
	switch {
	case as.Spec.Publish == nil:
		return nil, nil
	case as.Status.Address == nil:
		return nil, failures.Newf(v1.ReasonNoAddress, "there is no address to publish; an existing alias stays as it is")
	}
	host := hostname(as.Status.Address.URL)
	if net.ParseIP(host) != nil {
		return nil, failures.Newf(v1.ReasonHostNotPublishable, "an ExternalName Service cannot point to host %q: it is an IP address, not a name", host)
	}
	if problems := validation.IsDNS1123Subdomain(host); len(problems) > 0 {
		return nil, failures.Newf(v1.ReasonHostNotPublishable, "an ExternalName Service cannot point to host %q: %s", host, problems[0])
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   cfg.DirectoryNamespace,
			Name:        as.Spec.Publish.Alias,
			Labels:      map[string]string{samples.AliasOwnerUIDLabelKey: string(as.UID)},
			Annotations: map[string]string{samples.AliasOwnerAnnotationKey: keyOf(as).String()},
		},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host},
	}, nil
}

// owns reports whether a Service is an alias of this object, or of a deleted object of the same name whose finalizer was removed by hand.
// Owner references cannot cross namespaces, so a label with the UID and an annotation with namespace and name replace them.
func owns(as *v1.AddressableService, service *corev1.Service) bool {
	uid, labeled := service.Labels[samples.AliasOwnerUIDLabelKey]
	owner, _ := ownerOf(service)
	return labeled && as.UID != "" && (uid == string(as.UID) || owner == keyOf(as))
}

// ownerOf returns the object that published an alias, and whether the Service is an alias.
func ownerOf(service *corev1.Service) (types.NamespacedName, bool) {
	_, labeled := service.Labels[samples.AliasOwnerUIDLabelKey]
	namespace, name, err := cache.SplitMetaNamespaceKey(service.Annotations[samples.AliasOwnerAnnotationKey])
	return types.NamespacedName{Namespace: namespace, Name: name}, labeled && err == nil && name != ""
}

// correctAlias returns the existing alias with our fields set, and whether they were set already. Labels and annotations of others stay.
func correctAlias(existing, wanted *corev1.Service) (*corev1.Service, bool) {
	const owner, uid = samples.AliasOwnerAnnotationKey, samples.AliasOwnerUIDLabelKey
	if existing.Spec.Type == wanted.Spec.Type && existing.Spec.ExternalName == wanted.Spec.ExternalName &&
		existing.Annotations[owner] == wanted.Annotations[owner] && existing.Labels[uid] == wanted.Labels[uid] {
		return existing, true
	}
	corrected := existing.DeepCopy()
	corrected.Spec = wanted.Spec
	metav1.SetMetaDataAnnotation(&corrected.ObjectMeta, owner, wanted.Annotations[owner])
	metav1.SetMetaDataLabel(&corrected.ObjectMeta, uid, wanted.Labels[uid])
	return corrected, false
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
		if owner, ok := ownerOf(existing); ok {
			return failures.Newf(v1.ReasonAliasTaken, "the alias %q is published by AddressableService %s", existing.Name, owner)
		}
		return failures.Newf(v1.ReasonAliasTaken, "Service %s/%s exists and was not made by this operator", existing.Namespace, existing.Name)
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

// checkDirectory distinguishes a missing directory from a missing permission to write to it. The response of the API server does not: it
// checks permissions before it looks for the namespace, and a Role in the directory is deleted together with it.
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

// removeAliasesBut removes the aliases of this object except the wanted one. In the directory, where the alias was renamed or is no longer
// requested, these are those in the cache: another one enqueues its owner when it is delivered. Former directories are listed live, since
// they are forgotten afterwards.
func (r *Reconciler) removeAliasesBut(ctx context.Context, as *v1.AddressableService, wanted *corev1.Service) *failures.Failure {
	directory := config.FromContextOrDefaults(ctx).DirectoryNamespace
	others := slices.DeleteFunc(r.cachedAliases(directory, keyOf(as)), func(alias *corev1.Service) bool {
		return wanted != nil && alias.Name == wanted.Name
	})
	if err := r.removeAliases(ctx, others); err != nil {
		return failures.Failed(v1.ReasonPublishFailed, err)
	}
	for _, former := range as.Status.Directories() {
		if former == directory || !r.watched(former) {
			continue
		}
		if err := r.removeEveryAlias(ctx, as, former); err != nil {
			return failures.Failed(v1.ReasonPublishFailed, err)
		}
		as.Status.SetDirectories(slices.DeleteFunc(as.Status.Directories(), func(d string) bool { return d == former }))
	}
	return nil
}

// removeEveryAlias removes all aliases of an object from a directory, which is listed live: the cache might not have the latest alias yet.
func (r *Reconciler) removeEveryAlias(ctx context.Context, as *v1.AddressableService, directory string) error {
	if err := r.removeAliases(ctx, r.cachedAliases(directory, keyOf(as))); err != nil {
		return err
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

// removeAliases deletes aliases, unless they have changed since they were looked at. Those in a terminating namespace are deleted with it.
func (r *Reconciler) removeAliases(ctx context.Context, aliases []*corev1.Service) error {
	for _, alias := range aliases {
		if namespace, err := r.namespaces.Get(alias.Namespace); err == nil && isTerminating(namespace) {
			continue
		}
		err := r.kube.CoreV1().Services(alias.Namespace).Delete(ctx, alias.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &alias.UID, ResourceVersion: &alias.ResourceVersion},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting alias %s/%s: %w", alias.Namespace, alias.Name, err)
		}
	}
	return nil
}

// cachedAliases returns the aliases of an object in a directory. Services of other namespaces may claim to be aliases.
func (r *Reconciler) cachedAliases(directory string, owner types.NamespacedName) []*corev1.Service {
	return r.aliases.ByIndex(aliasesByOwner, inDirectory(directory, owner))
}
