/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Names of the indexes that this reconciler adds to its informers.
const (
	// byAlias finds AddressableServices by the alias that they ask for.
	byAlias = "alias"

	// byTargetKind finds AddressableServices by the group and kind of their target.
	byTargetKind = "targetKind"

	// aliasesByOwner finds alias Services by the object that published them.
	aliasesByOwner = "aliasOwner"
)

func addressableServiceIndexers() cache.Indexers {
	return cache.Indexers{
		byAlias: func(obj any) ([]string, error) {
			if as, ok := obj.(*v1.AddressableService); ok && as.Spec.Publish != nil {
				return []string{as.Spec.Publish.Alias}, nil
			}
			return nil, nil
		},
		byTargetKind: func(obj any) ([]string, error) {
			if as, ok := obj.(*v1.AddressableService); ok {
				return []string{as.Spec.Ref.GroupKind().String()}, nil
			}
			return nil, nil
		},
	}
}

func serviceIndexers() cache.Indexers {
	return cache.Indexers{
		aliasesByOwner: func(obj any) ([]string, error) {
			if service, ok := obj.(*corev1.Service); ok {
				if owner, ok := ownerOf(service); ok {
					return []string{owner.String()}, nil
				}
			}
			return nil, nil
		},
	}
}
