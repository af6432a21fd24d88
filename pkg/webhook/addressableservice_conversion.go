/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// withOlderVersions has Validate reject a v1.AddressableService that an older version could not represent.
func withOlderVersions(ctx context.Context) context.Context {
	older := make(v1.Representations)
	for _, gv := range served.PrioritizedVersionsForGroup(samples.GroupName) {
		if gvk := gv.WithKind("AddressableService"); gv != v1.SchemeGroupVersion {
			older[gv.Version] = func() v1.Representation {
				object, err := served.New(gvk)
				utilruntime.Must(err)
				return object.(v1.Representation) //nolint:forcetypeassert // each version is convertible
			}
		}
	}
	return v1.WithRepresentations(ctx, older)
}
