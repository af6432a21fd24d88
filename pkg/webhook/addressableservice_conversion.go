/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// withOlderVersions has Validate reject a v1.AddressableService that an older version could not represent.
func withOlderVersions(ctx context.Context) context.Context {
	kind := served[samples.Kind("AddressableService")]
	older := make(v1.Representations, len(kind.versions)-1)
	for version, newObject := range kind.versions {
		if version != kind.hub {
			older[version] = func() v1.Representation { return newObject().(convertible) } //nolint:forcetypeassert // see conversions
		}
	}
	return v1.WithRepresentations(ctx, older)
}
