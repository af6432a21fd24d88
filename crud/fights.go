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
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/lru"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Another writer undoes the writes of an object if the same desired state was written so many times within the window. Further writes are
// delayed, each for twice as long as the one before.
const (
	fightWrites   = 5
	fightWindow   = time.Minute
	fightDelay    = 250 * time.Millisecond
	maxFightDelay = 5 * time.Second
)

type fights struct {
	mu     sync.Mutex
	writes *lru.Cache // of []time.Time, by settledKey without resourceVersion
}

// recent returns the number of writes within the window, and adds the present one if it has been made.
func (f *fights) recent(key settledKey, add bool) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	key.resourceVersion = ""
	found, _ := f.writes.Get(key)
	times, _ := found.([]time.Time) // none for a state that was not written
	begin := time.Now().Add(-fightWindow)
	times = slices.DeleteFunc(slices.Clone(times), func(at time.Time) bool { return at.Before(begin) })
	if add {
		times = append(times, time.Now())
		f.writes.Add(key, times)
	}
	return len(times)
}

// yield delays a write of a state that was written again and again, and reports whether it did, once per operation.
func (c *call) yield(ctx context.Context, live *unstructured.Unstructured, patch map[string]any) (bool, error) {
	n := c.fights.recent(c.settledKey(live), false)
	if n < fightWrites || c.hasYielded || c.options.DryRun {
		return false, nil
	}
	c.hasYielded = true
	delay := maxFightDelay
	if doublings := n - fightWrites; doublings < 5 { //nolint:mnd // beyond, the delay is longer than the longest
		delay = min(fightDelay<<doublings, maxFightDelay)
	}
	writeFights.Add(ctx, 1, metric.WithAttributes(c.ofKind()...))
	c.result.Contested = contested(live, patch, c.options.FieldManager)
	c.result.Warnings = append(c.result.Warnings, fmt.Sprintf("the same state was written %d times within %v and undone, %s: this write was delayed by %v",
		n, fightWindow, c.result.Contested, delay))
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
		if path := firstOf(written, patch, ""); len(path) > len(field) {
			manager, field = entry.Manager, path
		}
	}
	if field == "" {
		return "by a writer that removes fields"
	}
	return fmt.Sprintf("by the field manager %s, which writes %s", manager, field)
}

func firstOf(set *fieldpath.Set, patch map[string]any, path string) string {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		element := fieldpath.PathElement{FieldName: &key}
		below := set.WithPrefix(element)
		inner, isMap := patch[key].(map[string]any)
		switch {
		case isMap && !below.Empty():
			if found := firstOf(below, inner, path+"."+key); found != "" {
				return found
			}
		case set.Members.Has(element), !below.Empty():
			return path + "." + key
		}
	}
	return ""
}
