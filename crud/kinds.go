/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"

	"github.com/mallard-dev/mallard/crud/internal/closest"
)

// refreshInterval bounds how often kinds that are not known cause a discovery.
const refreshInterval = time.Second

type kind struct {
	schema.GroupVersionKind
	resource   string
	namespaced bool
	// names are those of the kind and its resource: plural, singular and short ones, in lower case.
	names []string
	// hasStatus reports whether the kind has a status subresource.
	hasStatus bool
	// preferred reports whether the API server prefers this version of the group.
	preferred bool
}

func (k kind) gvr() schema.GroupVersionResource { return k.GroupVersion().WithResource(k.resource) }

// kinds finds kinds by the names that kubectl accepts. Its result is as old as the last discovery, which it repeats before it returns an error.
type kinds struct {
	discovery discovery.DiscoveryInterface

	refresh sync.Mutex // held during a discovery

	mu         sync.Mutex
	all        []kind
	failed     map[schema.GroupVersion]error
	discovered time.Time
}

// find returns the kind of a reference that fits, with an error of one of the classes that do not send anything. The kinds may have changed since the
// last discovery.
func (k *kinds) find(ref Ref, fits func(kind) error) (kind, error) {
	found, err := k.choose(ref, fits)
	if err == nil {
		return found, nil
	}
	k.refresh.Lock()
	defer k.refresh.Unlock()
	if err := k.discover(); err != nil {
		return kind{}, DiscoveryUnavailable.of(err)
	}
	return k.choose(ref, fits)
}

func (k *kinds) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = nil
}

func (k *kinds) choose(ref Ref, fits func(kind) error) (kind, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	named := slices.DeleteFunc(slices.Clone(k.all), func(one kind) bool { return !strings.EqualFold(one.Kind, ref.Kind) })
	if len(named) == 0 { // a resource can have the name of another kind
		named = slices.DeleteFunc(slices.Clone(k.all), func(one kind) bool { return !slices.Contains(one.names, strings.ToLower(ref.Kind)) })
	}
	candidates := slices.DeleteFunc(slices.Clone(named), func(one kind) bool {
		return ref.APIVersion != "" && one.GroupVersion().String() != ref.APIVersion
	})
	groups := names(candidates, func(one kind) string { return cmp.Or(one.Group, "core") })
	switch {
	case len(candidates) == 0:
		return kind{}, k.notFound(ref, named)
	case len(groups) > 1:
		return kind{}, KindAmbiguous.errorf("kind %s exists in the groups %s: set apiVersion to one of %s",
			candidates[0].Kind, list(groups), list(versions(candidates)))
	}
	preferred := max(0, slices.IndexFunc(candidates, func(one kind) bool { return one.preferred }))
	return candidates[preferred], fits(candidates[preferred])
}

func anyKind(kind) error { return nil }

// notFound distinguishes a kind that does not exist from one that the API server could not list.
func (k *kinds) notFound(ref Ref, named []kind) error {
	for version, err := range k.failed {
		if ref.APIVersion == "" || ref.APIVersion == version.String() {
			return DiscoveryUnavailable.errorf("kind %s was not found, and the API server could not list the kinds of %s: %w",
				ref.Kind, version, err)
		}
	}
	if len(named) > 0 {
		return KindUnknown.errorf("%s does not have kind %s: it is served as %s", ref.APIVersion, named[0].Kind, list(versions(named)))
	}
	known := map[string]string{}
	for _, one := range k.all {
		for _, name := range one.names {
			known[name] = one.Kind
		}
	}
	delete(known, "") // kinds may have no singular name
	if guess := known[closest.To(ref.Kind, maps.Keys(known))]; guess != "" {
		return KindUnknown.errorf("the API server does not serve kind %s: did you mean %s?", ref.Kind, guess)
	}
	return KindUnknown.errorf("the API server does not serve kind %s", ref.Kind)
}

// discover reads the kinds of all groups, unless that was done a moment ago. Groups that fail, because their API server is not available, keep
// the kinds that they had.
func (k *kinds) discover() error {
	k.mu.Lock()
	isNew := k.all != nil && time.Since(k.discovered) < refreshInterval
	k.mu.Unlock()
	if isNew {
		return nil
	}
	began := time.Now()
	groups, lists, err := k.discovery.ServerGroupsAndResources()
	failed, partly := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	if err != nil && !partly {
		return fmt.Errorf("listing the kinds that the API server serves: %w", err)
	}
	preferred := sets.New[string]()
	for _, group := range groups {
		preferred.Insert(group.PreferredVersion.GroupVersion)
	}
	all := []kind{}
	for _, version := range lists {
		all = append(all, kindsOf(version, preferred)...)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed = nil; partly {
		all = append(all, slices.DeleteFunc(slices.Clone(k.all), func(one kind) bool { return failed.Groups[one.GroupVersion()] == nil })...)
		k.failed = failed.Groups
	}
	k.all, k.discovered = all, began
	return nil
}

func kindsOf(list *metav1.APIResourceList, preferred sets.Set[string]) (all []kind) {
	version, _ := schema.ParseGroupVersion(list.GroupVersion) // of the API server
	resources := sets.New[string]()
	for _, resource := range list.APIResources {
		resources.Insert(resource.Name)
	}
	for _, resource := range list.APIResources {
		if !strings.Contains(resource.Name, "/") {
			all = append(all, kind{
				GroupVersionKind: version.WithKind(resource.Kind), resource: resource.Name, namespaced: resource.Namespaced,
				names:     append([]string{strings.ToLower(resource.Kind), strings.ToLower(resource.SingularName), resource.Name}, resource.ShortNames...),
				hasStatus: resources.Has(resource.Name + "/status"), preferred: preferred.Has(list.GroupVersion),
			})
		}
	}
	return all
}

// check returns an error if the operation cannot be sent for the kind as it is.
func (k kind) check(op Operation) error {
	switch {
	case k.namespaced && op.Namespace == "":
		return ScopeMismatch.errorf("objects of kind %s have a namespace: set it", k.Kind)
	case !k.namespaced && op.Namespace != "":
		return ScopeMismatch.errorf("objects of kind %s have no namespace: leave out %q", k.Kind, op.Namespace)
	case op.StatusPatch && !k.hasStatus:
		return SubresourceNotServed.errorf("kind %s of %s has no status subresource", k.Kind, k.GroupVersion())
	}
	return nil
}

func versions(kinds []kind) []string {
	return names(kinds, func(one kind) string { return one.GroupVersion().String() })
}

func names[T any](values []T, name func(T) string) []string {
	found := sets.New[string]()
	for _, value := range values {
		found.Insert(name(value))
	}
	return sets.List(found)
}

func list(names []string) string { return strings.Join(names, ", ") }

// Resource returns the resource with which the API server serves the kind of a reference; it finds the kind as operations do. The name may be empty.
func (c *Client) Resource(ref Ref) (*meta.RESTMapping, error) {
	found, err := c.kinds.find(ref, anyKind)
	if err != nil {
		return nil, err
	}
	mapping := &meta.RESTMapping{Resource: found.gvr(), GroupVersionKind: found.GroupVersionKind, Scope: meta.RESTScopeRoot}
	if found.namespaced {
		mapping.Scope = meta.RESTScopeNamespace
	}
	return mapping, nil
}
