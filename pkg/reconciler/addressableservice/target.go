/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/failures"
)

// maxHops bounds how many AddressableServices a chain of references may lead through: each reconciliation walks the chain.
const maxHops = 32

// find looks up the target that the reference leads to, in the cache that its kind has.
func (r *Reconciler) find(ctx context.Context, as *v1.AddressableService) (target, *failures.Failure) {
	ref, kind, namespace := as.Spec.Ref, as.Spec.Ref.GroupVersionKind(), cmp.Or(as.Spec.Ref.Namespace, as.Namespace)
	if namespace != as.Namespace && !(config.FromContextOrDefaults(ctx).AllowCrossNamespaceReferences && r.watched(namespace)) {
		return target{}, failures.Newf(v1.ReasonCrossNamespaceDenied, "spec.ref.namespace %q is not this object's; "+
			"set allow-cross-namespace-references in ConfigMap %s to allow it where all namespaces are watched", namespace, config.AddressableName)
	}
	if kind.GroupKind() == addressableServiceKind.GroupKind() && slices.Contains([]string{"v1", "v1beta1", "v1alpha1"}, kind.Version) {
		kind = addressableServiceKind // the informer has the hub, whichever of its versions the reference names
	}
	if r.track(as, kind, namespace, ref.Name) != nil {
		return target{}, notFound(ref)
	}
	switch kind {
	case serviceKind:
		if service, err := r.services.Services(namespace).Get(ref.Name); err == nil {
			return target{service: service}, nil
		}
		return target{}, notFound(ref)
	case addressableServiceKind:
		if p := r.checkChain(as); p != nil {
			return target{}, p
		}
		other, err := r.addressableServices.AddressableServices(namespace).Get(ref.Name)
		if err != nil {
			return target{}, notFound(ref)
		}
		return fromStatus(ref, other.Status.AddressStatus)
	default:
		return r.findAddressable(ctx, ref, namespace)
	}
}

// checkChain follows the references between AddressableServices from this one. In a cycle every object would take the address of the previous one
// indefinitely, even after the original address was removed.
func (r *Reconciler) checkChain(as *v1.AddressableService) *failures.Failure {
	chain := []string{cache.MetaObjectToName(as).String()}
	for current := as; current.Spec.Ref.GroupVersionKind().GroupKind() == addressableServiceKind.GroupKind(); {
		if len(chain) > maxHops {
			return failures.Newf(v1.ReasonReferenceCycle, "the references lead through more than %d AddressableServices", maxHops)
		}
		namespace, name := cmp.Or(current.Spec.Ref.Namespace, current.Namespace), current.Spec.Ref.Name
		chain = append(chain, namespace+"/"+name)
		if slices.Index(chain, namespace+"/"+name) < len(chain)-1 {
			return failures.Newf(v1.ReasonReferenceCycle, "the references form a cycle: %s", strings.Join(chain, " -> "))
		}
		err := r.track(as, addressableServiceKind, namespace, name)
		if err == nil {
			current, err = r.addressableServices.AddressableServices(namespace).Get(name)
		}
		if err != nil { // The end of the chain does not exist, which find reports.
			return nil
		}
	}
	return nil
}

// findAddressable looks up a target of a kind that is known only from the reference, as the resolver of knative.dev/pkg does.
func (r *Reconciler) findAddressable(ctx context.Context, ref v1.TargetReference, namespace string) (target, *failures.Failure) {
	kind := ref.GroupVersionKind()
	if !strings.Contains(kind.Group, ".") { // the group of a CRD has a dot
		return target{}, failures.Newf(v1.ReasonTargetNotAddressable,
			"%s %s is a built-in kind, of which only Service v1 has an address", kind.GroupKind(), kind.Version)
	}
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	_, lister, err := r.addressables.Get(ctx, resource)
	switch {
	case apierrors.IsNotFound(err):
		return target{}, &failures.Failure{Reason: v1.ReasonTargetKindNotFound, Err: err, Message: fmt.Sprintf(
			"the cluster does not serve kind %s at %s", kind.Kind, kind.GroupVersion())}
	case apierrors.IsForbidden(err):
		// No error of the operator: any user can name a kind. Nothing reports that the permission is granted.
		return target{}, &failures.Failure{Reason: v1.ReasonTargetForbidden, Recheck: failures.RetryDelay, Message: fmt.Sprintf(
			"%v; grant get, list and watch in a ClusterRole labeled duck.knative.dev/addressable=true", err)}
	case err != nil:
		return target{}, failures.Failed(v1.ReasonTargetUnavailable, fmt.Errorf("failed to list or watch %s: %w", resource.GroupResource(), err))
	}
	obj, err := lister.ByNamespace(namespace).Get(ref.Name)
	if err != nil {
		return target{}, notFound(ref)
	}
	found, ok := obj.(*duckv1.AddressableType)
	if !ok {
		return target{}, failures.Newf(v1.ReasonTargetNotAddressable, "the status of %s does not have the form of an Addressable's", ref)
	}
	return fromStatus(ref, found.Status)
}

// fromStatus returns the target that an object's status describes, if it has a usable address.
func fromStatus(ref v1.TargetReference, status duckv1.AddressStatus) (target, *failures.Failure) {
	t := target{addresses: status.Addresses}
	if len(t.addresses) == 0 && status.Address != nil {
		t.addresses = []duckv1.Addressable{*status.Address}
	}
	switch {
	case len(t.addresses) == 0 || t.addresses[0].URL.IsEmpty():
		return target{}, failures.Newf(v1.ReasonTargetHasNoAddress, "%s has no status.address.url", ref)
	case !isUsable(t.addresses[0]):
		return target{}, failures.Newf(v1.ReasonTargetNotAddressable,
			"the address of %s is unusable: its URL %q needs a scheme and a host", ref, t.addresses[0].URL)
	}
	return t, nil
}

func isUsable(a duckv1.Addressable) bool {
	return a.URL != nil && a.URL.Scheme != "" && a.URL.Host != ""
}

// notFound is the only error of a lister. It is also the answer to an invalid reference, which cannot be tracked: no such object can exist.
func notFound(ref v1.TargetReference) *failures.Failure {
	return failures.Newf(v1.ReasonTargetNotFound, "%s does not exist", ref)
}
