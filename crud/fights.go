/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Another writer undoes the writes of an object if the same desired state is written again and again: with each write, its back-off doubles, until none
// follows for a minute. Writes are delayed from the sixth on.
const (
	fightBackoff    = leastFightDelay / 16
	leastFightDelay = 250 * time.Millisecond
	maxFightDelay   = 5 * time.Second
)

// fightDelay returns the delay of a write of the desired state, which is 0 unless another writer undoes it.
func (c *call) fightDelay(live *unstructured.Unstructured) time.Duration {
	c.fights.GC() // of those that have ended
	if delay := c.fights.Get(c.fightKey(live)); delay >= leastFightDelay {
		return min(delay, maxFightDelay)
	}
	return 0
}

func (c *call) fightKey(live *unstructured.Unstructured) string {
	return string(live.GetUID()) + " " + c.hash
}

// yield delays a write that another writer undoes, and reports whether it did, once per operation.
func (c *call) yield(ctx context.Context, live *unstructured.Unstructured, patch map[string]any) (bool, error) {
	delay := c.fightDelay(live)
	if delay == 0 || c.result.Contested != "" || c.options.DryRun {
		return false, nil
	}
	writeFights.Add(ctx, 1, metric.WithAttributes(c.ofKind()...))
	c.result.Contested = contested(live, patch, c.options.FieldManager)
	c.result.Warnings = append(c.result.Warnings,
		fmt.Sprintf("the same state was written again and again, and undone %s: this write was delayed by %v", c.result.Contested, delay))
	if !sleep(ctx, delay) {
		return false, canceled(ctx, errors.New("delaying a write that another writer undoes"))
	}
	return true, nil
}

// contested names a field of a patch and the field manager that wrote it last. The manager that created a map owns it as well as the one that
// writes a field in it, so the longest path decides.
func contested(live *unstructured.Unstructured, patch map[string]any, own string) string {
	var manager, field string
	for _, entry := range live.GetManagedFields() {
		written := &fieldpath.Set{}
		if entry.Manager == own || entry.FieldsV1 == nil || written.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) != nil {
			continue
		}
		written.Iterate(func(path fieldpath.Path) {
			if name := path.String(); len(name) > len(field) && changes(patch, path) {
				manager, field = entry.Manager, name
			}
		})
	}
	if field == "" {
		return "by a writer that removes fields"
	}
	return fmt.Sprintf("by the field manager %s, which writes %s", manager, field)
}

// changes reports whether a patch changes the value at a path, or a list that holds it.
func changes(patch map[string]any, path fieldpath.Path) bool {
	var names []string
	for _, element := range path {
		if element.FieldName != nil {
			names = append(names, *element.FieldName)
		}
	}
	_, found, err := unstructured.NestedFieldNoCopy(patch, names...)
	return found || err != nil
}
