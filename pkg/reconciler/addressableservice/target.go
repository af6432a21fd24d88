/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// addressableLabelKey on a CRD means that its objects have an address, as
// knative.dev/pkg/apis/duck/README.md defines.
const addressableLabelKey = "duck.knative.dev/addressable"

var serviceKind = corev1.SchemeGroupVersion.WithKind("Service")

// target is the object that the reference resolved to: a Service, or the addresses, at least
// one, of something Addressable.
type target struct {
	service   *corev1.Service
	addresses []duckv1.Addressable
	// hops counts the AddressableServices that the reference led through.
	hops int
}

// resolve follows the reference to the addresses that it leads to, and returns through how many AddressableServices.
func (r *Reconciler) resolve(ctx context.Context, as *v1.AddressableService) ([]duckv1.Addressable, int, *failures.Failure) {
	cfg := config.FromContextOrDefaults(ctx)
	if as.Spec.Ref.NamespaceOr(as.Namespace) != as.Namespace && !cfg.AllowCrossNamespaceReferences {
		return nil, 0, failures.Newf(v1.ReasonCrossNamespaceDenied,
			"spec.ref.namespace %q is not this object's; set allow-cross-namespace-references in ConfigMap %s to allow it",
			as.Spec.Ref.Namespace, config.AddressableName)
	}
	if namespace := as.Spec.Ref.NamespaceOr(as.Namespace); !r.watched(namespace) {
		return nil, 0, failures.Newf(v1.ReasonCrossNamespaceDenied,
			"spec.ref.namespace %q is not watched: this installation is for namespace %q alone", namespace, r.scope)
	}
	found, p := r.findTarget(as)
	if p != nil {
		return nil, 0, p
	}
	addresses, p := planAddresses(cfg, as, found)
	return addresses, found.hops, p
}

// watched reports whether the informers watch a namespace.
func (r *Reconciler) watched(namespace string) bool { return r.scope == "" || r.scope == namespace }

// findTarget looks the target up, in the cache that its kind has.
func (r *Reconciler) findTarget(as *v1.AddressableService) (target, *failures.Failure) {
	ref := as.Spec.Ref
	switch {
	case ref.GroupVersionKind() == serviceKind:
		return r.findService(as)
	case ref.GroupKind() == samples.Kind("AddressableService"):
		return r.findAddressableService(as)
	default:
		return r.findAddressable(as)
	}
}

func (r *Reconciler) findService(as *v1.AddressableService) (target, *failures.Failure) {
	ref := as.Spec.Ref
	service, err := r.services.Services(ref.NamespaceOr(as.Namespace)).Get(ref.Name)
	if err != nil {
		return target{}, notRead(ref, err)
	}
	return target{service: service}, nil
}

func (r *Reconciler) findAddressableService(as *v1.AddressableService) (target, *failures.Failure) {
	ref := as.Spec.Ref
	if ref.GroupVersionKind().Version != v1.SchemeGroupVersion.Version {
		if _, p := r.findKind(ref.GroupVersionKind()); p != nil {
			return target{}, p
		}
	}
	if p := r.findCycle(as); p != nil {
		return target{}, p
	}
	// Whichever version the reference names, our informer has the hub.
	other, err := r.addressableServices.AddressableServices(ref.NamespaceOr(as.Namespace)).Get(ref.Name)
	if err != nil {
		return target{}, notRead(ref, err)
	}
	found, p := fromStatus(ref, other.Status.AddressStatus, true)
	if found.hops = other.Status.Hops() + 1; p == nil && found.hops > maxHops {
		return target{}, failures.Newf(v1.ReasonReferenceCycle, "the references lead through more than %d AddressableServices", maxHops)
	}
	return found, p
}

// findAddressable looks up a target of a kind that is known only from the
// reference, by an informer that is made when a kind is first referred to.
func (r *Reconciler) findAddressable(as *v1.AddressableService) (target, *failures.Failure) {
	ref := as.Spec.Ref
	kind, p := r.findKind(ref.GroupVersionKind())
	if p != nil {
		return target{}, p
	}
	namespace := ""
	switch {
	case kind.Namespaced:
		namespace = ref.NamespaceOr(as.Namespace)
	case r.scope != "":
		return target{}, failures.Newf(v1.ReasonTargetOutOfScope,
			"%s is a cluster-scoped kind, and this installation watches namespace %q only", ref.GroupKind(), r.scope)
	}
	// Whatever the error, the informer retries, and its success enqueues the object.
	lister, err := r.addressables.Lister(kind.Resource)
	switch {
	case errors.Is(err, ducks.ErrNotSynced):
		return target{}, failures.Newf(v1.ReasonTargetNotSynced, "%v", err)
	case apierrors.IsForbidden(err):
		return target{}, failures.Newf(v1.ReasonTargetForbidden,
			"the operator is not authorized to list %s; grant get, list and watch in a ClusterRole labeled duck.knative.dev/addressable=true",
			kind.Resource.GroupResource())
	case err != nil:
		// Also if the answer is 404: whether the kind is served is up to its CRD and to discovery.
		return target{}, failures.Newf(v1.ReasonTargetUnavailable, "failed to list or watch %s: %v", kind.Resource.GroupResource(), err)
	}

	obj, err := lister.Get(cache.NewObjectName(namespace, ref.Name).String())
	if err != nil {
		return target{}, notRead(ref, err)
	}
	switch found := obj.(type) {
	case *duckv1.AddressableType:
		return fromStatus(ref, found.Status, kind.Labels[addressableLabelKey] == "true")
	case *ducks.Malformed:
		return target{}, failures.Newf(v1.ReasonTargetNotAddressable, "%s: status.address is not an Addressable's: %v", ref, found.Err)
	default:
		return target{}, failures.Failed(v1.ReasonTargetUnavailable, fmt.Errorf("%s is cached as an unexpected %T", ref, obj))
	}
}

// findKind finds the resource that serves a kind which may have addresses.
func (r *Reconciler) findKind(gvk schema.GroupVersionKind) (restmapping.Served, *failures.Failure) {
	kind, err := r.mapper.Map(gvk)
	if _, ok := errors.AsType[*restmapping.NotServedError](err); ok {
		return restmapping.Served{}, failures.Newf(v1.ReasonTargetKindNotFound, "%v", err)
	}
	if errors.Is(err, restmapping.ErrNotKnown) {
		return restmapping.Served{}, failures.Newf(v1.ReasonTargetNotSynced, "%v", err)
	}
	if err != nil {
		// Discovery is retried in the background, and its answer enqueues the object.
		return restmapping.Served{}, failures.Newf(v1.ReasonTargetUnavailable, "%v", err)
	}
	if kind.BuiltIn {
		return restmapping.Served{}, failures.Newf(v1.ReasonTargetNotAddressable,
			"%s is a built-in kind, of which only Service has an address", gvk.GroupKind())
	}
	return kind, nil
}

// fromStatus returns the target that an object's status describes, if it has a usable address.
func fromStatus(ref v1.TargetReference, status duckv1.AddressStatus, addressable bool) (target, *failures.Failure) {
	t := target{addresses: status.Addresses}
	if len(t.addresses) == 0 && status.Address != nil {
		t.addresses = []duckv1.Addressable{*status.Address}
	}
	switch {
	case len(t.addresses) > 0 && isUsable(t.addresses[0]):
		return t, nil
	case len(t.addresses) > 0 && !t.addresses[0].URL.IsEmpty():
		return target{}, failures.Newf(v1.ReasonTargetNotAddressable,
			"the address of %s is unusable: its URL %q needs a scheme and a host", ref, t.addresses[0].URL)
	case addressable:
		return target{}, failures.Newf(v1.ReasonTargetHasNoAddress, "%s has no status.address.url", ref)
	default:
		return target{}, failures.Newf(v1.ReasonTargetNotAddressable,
			"%s has no status.address.url, and its CRD has no label duck.knative.dev/addressable=true", ref)
	}
}

func isUsable(a duckv1.Addressable) bool {
	return a.URL != nil && a.URL.Scheme != "" && a.URL.Host != ""
}

func notRead(ref v1.TargetReference, err error) *failures.Failure {
	if apierrors.IsNotFound(err) {
		return failures.Newf(v1.ReasonTargetNotFound, "%s does not exist", ref)
	}
	return failures.Failed(v1.ReasonTargetUnavailable, fmt.Errorf("reading %s: %w", ref, err))
}
