/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is a number, so that Kubernetes can see that it is not root's.
const user = "65532:65532"

// baseName is what the images call their base. It is no place to pull it from: it is made here, the same each time.
const baseName = "mallard.invalid/empty:latest"

// emptyBase is a base image for the platforms that holds no file: the programs are static, find the API server's CA
// beside their token, and need nothing else.
func emptyBase(platforms []v1.Platform, date time.Time) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		image, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{
			OS: platform.OS, Architecture: platform.Architecture, Variant: platform.Variant, Created: v1.Time{Time: date},
			Config: v1.Config{User: user, WorkingDir: "/"},
			RootFS: v1.RootFS{Type: "layers"},
		})
		if err != nil {
			return nil, fmt.Errorf("making the base image for %s: %w", platform, err)
		}
		image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return index, nil
}
