/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// views are the older versions of a v1.AddressableService.
func views() v1.Views {
	kind := served[samples.Kind("AddressableService")]
	older := make(v1.Views, len(kind.versions)-1)
	for version, newObject := range kind.versions {
		if version != kind.hub {
			older[version] = func() v1.View { return newObject().(convertible) } //nolint:forcetypeassert // see conversions
		}
	}
	return older
}
