/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package registry

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// baseName is the empty base image's name within the registry.
	baseName = "base:latest"
	// baseUser is the user and group that distroless images call nonroot.
	baseUser = "65532:65532"
)

// pushBase puts an image without any file into the registry, for the architectures that clusters have.
func pushBase(ctx context.Context, host string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range []string{"amd64", "arm64"} {
		image, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{
			OS: "linux", Architecture: arch,
			Config: v1.Config{User: baseUser, WorkingDir: "/"},
			RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{}},
		})
		if err != nil {
			return fmt.Errorf("making the base image for %s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        mutate.ConfigMediaType(image, types.OCIConfigJSON),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	reference, err := name.ParseReference(host + "/" + baseName)
	if err != nil {
		return fmt.Errorf("naming the base image: %w", err)
	}
	if err := remote.WriteIndex(reference, index, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("pushing the base image: %w", err)
	}
	return nil
}
