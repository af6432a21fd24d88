/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// MigrateAll migrates one resource after the other and logs what was done for each. One that fails does not keep the
// others from their turn. Versions to be dropped of a resource that is not among them are an error, and nothing is done.
func (m *Migrator) MigrateAll(ctx context.Context, resources Resources, drop Versions) error {
	for resource := range drop {
		if !slices.Contains(resources, resource) {
			return fmt.Errorf("versions of %s are to be dropped, which is not among the resources to be migrated: %v", resource, resources)
		}
	}
	var failures []error
	for _, resource := range resources {
		summary, err := m.Migrate(ctx, resource, drop[resource])
		if err == nil {
			m.Log.Info(summary)
			continue
		}
		m.Log.Errorw("Not migrated", "resource", resource.String(), "cleaned", summary.Cleaned, "moved", summary.Moved,
			"gone", summary.Gone, "error", err.Error())
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failures...)
}
