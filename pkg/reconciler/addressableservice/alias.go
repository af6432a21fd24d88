/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// planAlias decides the alias of an object, nil if none is requested. It is
// pure, and reads the address from the status, where the previous step left it.
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
		Spec: corev1.ServiceSpec{
			Type:         corev1.ServiceTypeExternalName,
			ExternalName: host,
		},
	}, nil
}

// owns reports whether a Service is an alias of this object, or of a deleted object that had the
// same name: its finalizer was removed by hand. Owner references cannot cross namespaces, so
// a label with the UID and an annotation with namespace and name replace them.
func owns(as *v1.AddressableService, service *corev1.Service) bool {
	uid, labelled := service.Labels[samples.AliasOwnerUIDLabelKey]
	owner, _ := ownerOf(service)
	return labelled && as.UID != "" && (uid == string(as.UID) || owner == keyOf(as))
}

// ownerOf returns the object that published an alias, and whether the Service is an alias.
func ownerOf(service *corev1.Service) (types.NamespacedName, bool) {
	_, labelled := service.Labels[samples.AliasOwnerUIDLabelKey]
	namespace, name, err := cache.SplitMetaNamespaceKey(service.Annotations[samples.AliasOwnerAnnotationKey])
	return types.NamespacedName{Namespace: namespace, Name: name}, labelled && err == nil && name != ""
}

// correctAlias returns the existing alias with what we decide of it set right, and
// whether it was right already. Labels and annotations of others stay.
func correctAlias(existing, wanted *corev1.Service) (*corev1.Service, bool) {
	const owner, uid = samples.AliasOwnerAnnotationKey, samples.AliasOwnerUIDLabelKey
	if existing.Spec.Type == wanted.Spec.Type &&
		existing.Spec.ExternalName == wanted.Spec.ExternalName &&
		existing.Annotations[owner] == wanted.Annotations[owner] &&
		existing.Labels[uid] == wanted.Labels[uid] {
		return existing, true
	}
	corrected := existing.DeepCopy()
	corrected.Spec = wanted.Spec
	metav1.SetMetaDataAnnotation(&corrected.ObjectMeta, owner, wanted.Annotations[owner])
	metav1.SetMetaDataLabel(&corrected.ObjectMeta, uid, wanted.Labels[uid])
	return corrected, false
}

func aliasTaken(existing *corev1.Service) *failures.Failure {
	if owner, ok := ownerOf(existing); ok {
		return failures.Newf(v1.ReasonAliasTaken, "the alias %q is published by AddressableService %s", existing.Name, owner)
	}
	return failures.Newf(v1.ReasonAliasTaken, "Service %s/%s exists and was not made by this operator", existing.Namespace, existing.Name)
}
