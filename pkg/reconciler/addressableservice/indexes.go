/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/informers"
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
		byAlias: informers.IndexBy(func(as *v1.AddressableService) []string {
			if as.Spec.Publish == nil {
				return nil
			}
			return []string{as.Spec.Publish.Alias}
		}),
		byTargetKind: informers.IndexBy(func(as *v1.AddressableService) []string {
			return []string{as.Spec.Ref.GroupKind().String()}
		}),
	}
}

func serviceIndexers() cache.Indexers {
	return cache.Indexers{
		aliasesByOwner: informers.IndexBy(func(service *corev1.Service) []string {
			if owner, ok := ownerOf(service); ok {
				return []string{owner.String()}
			}
			return nil
		}),
	}
}
