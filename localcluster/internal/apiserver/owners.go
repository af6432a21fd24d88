/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// ownersPlugin rejects an object with blockOwnerDeletion unless its author is allowed to update the owner's finalizers. Some
// distributions enable it, OpenShift for one.
const ownersPlugin = "OwnerReferencesPermissionEnforcement"

// refreshing is a REST mapper that reads discovery again for a kind it does not know.
type refreshing struct{ meta.ResettableRESTMapper }

func (m refreshing) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	mappings, err := m.ResettableRESTMapper.RESTMappings(kind, versions...)
	if meta.IsNoMatchError(err) {
		m.Reset()
		mappings, err = m.ResettableRESTMapper.RESTMappings(kind, versions...)
	}
	return mappings, err //nolint:wrapcheck // callers look for NoMatch
}

// knowNewKinds gives ownersPlugin its own REST mapper. The API server's is refreshed every 30 s only, and until then the plugin rejects
// every object whose owner is of a kind that was defined in between.
func knowNewKinds(config *rest.Config) (admission.Decorator, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a discovery client: %w", err)
	}
	mapper := refreshing{restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))}
	return admission.DecoratorFunc(func(plugin admission.Interface, name string) admission.Interface {
		if wants, ok := plugin.(initializer.WantsRESTMapper); ok && name == ownersPlugin {
			wants.SetRESTMapper(mapper)
		}
		return plugin
	}), nil
}
