/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var errChanged = errors.New("the CRD was changed during the migration, and objects may have been stored at another version: migrate again")

// prune sets status.storedVersions to the storage version, unless the CustomResourceDefinition is no longer the one that was
// read. The patch carries the resourceVersion, so that this is still so when it arrives.
func (r *run) prune(ctx context.Context) error {
	client := r.migrator.CRDs.ApiextensionsV1().CustomResourceDefinitions()
	return r.try(ctx, "writing status.storedVersions", func(ctx context.Context) error {
		live, err := client.Get(ctx, r.crd.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the CRD again: %w", err)
		}
		if err := r.unchanged(live); err != nil {
			return err
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": live.ResourceVersion},
			"status":   map[string]any{"storedVersions": []string{r.plan.storage.Version}},
		})
		if err != nil {
			return fmt.Errorf("writing the patch: %w", err)
		}
		_, err = client.Patch(ctx, r.crd.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err //nolint:wrapcheck // try does
	})
}

// unchanged compares generations, which count every change of the spec. The storage version alone would not do: it may have
// been another for a while, and objects written at that one.
func (r *run) unchanged(live *apiextensionsv1.CustomResourceDefinition) error {
	if live.UID == r.crd.UID && live.Generation == r.crd.Generation {
		return nil
	}
	return fmt.Errorf("%w (its generation was %d and is %d)", errChanged, r.crd.Generation, live.Generation)
}
