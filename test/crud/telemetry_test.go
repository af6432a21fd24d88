/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/measured"
)

// counted returns the sum of a metric's data points that have these attributes among others, and the names of all its attributes.
func counted(t testing.TB, name string, with ...attribute.KeyValue) (sum int64, keys []string) {
	t.Helper()
	return measured.Sum(t, measurements, name, with...)
}

func TestT40_Metrics_EachOperationIsCountedOnceWithoutItsName(t *testing.T) {
	s := newScene(t, quick)
	earlier := measured.Earlier(t, measurements)
	op := func(size int) crud.Operation {
		return crud.CreateOrUpdate(s.object(fmt.Sprintf(`{apiVersion: %s/v1, kind: Measured, metadata: {name: a}, spec: {size: %d}}`, group, size)))
	}
	s.run(op(1), crud.Created)
	s.run(op(1), crud.Unchanged)
	s.run(op(2), crud.Updated)
	s.proxy.FailOnce(harness.Matching("patch", "measureds").And(harness.InNamespace(s.ns)), http.StatusConflict)
	s.run(op(3), crud.Updated)
	status := onStatus(crud.MergePatch(s.ref("Measured", "a"), `{"status":{"phase":"x"}}`))
	s.run(status, crud.StatusUpdated)
	s.fails(crud.MergePatch(s.ref("Measured", "absent"), `{"spec":{"size":1}}`), crud.NotFound)
	deleted := crud.EnsureDeletedInBackground(s.ref("Measured", "a"))
	s.run(deleted, crud.Deleted)

	kind := attribute.String("kind", "Measured")
	for _, tc := range []struct {
		operation, outcome, subresource, class string
		want                                   int64
	}{
		{"CreateOrUpdate", "Created", "", "", 1},
		{"CreateOrUpdate", "Unchanged", "", "", 1},
		{"CreateOrUpdate", "Updated", "", "", 2},
		{"MergePatch", "StatusUpdated", "status", "", 1},
		{"MergePatch", "Failed", "", "NotFound", 1},
		{"EnsureDeletedInBackground", "Deleted", "", "", 1},
	} {
		with := []attribute.KeyValue{
			kind, attribute.String("operation", tc.operation), attribute.String("group", group),
			attribute.String("outcome", tc.outcome), attribute.String("subresource", tc.subresource), attribute.String("error_class", tc.class),
		}
		got, keys := counted(t, "object.operations", with...)
		if before, _ := measured.Sum(t, earlier, "object.operations", with...); got-before != tc.want {
			t.Errorf("%v was counted %d times", tc, got-before)
		}
		if want := []string{"error_class", "group", "kind", "operation", "outcome", "subresource"}; !slices.Equal(keys, want) {
			t.Errorf("the labels are %q, want %q", keys, want)
		}
	}
	sum, _ := counted(t, "object.operations", kind)
	if before, _ := measured.Sum(t, earlier, "object.operations", kind); sum-before != 7 {
		t.Errorf("%d operations were counted, want 7", sum-before)
	}
	for _, tc := range []struct {
		name string
		with []attribute.KeyValue
	}{
		{"object.operation.duration", []attribute.KeyValue{attribute.String("operation", "MergePatch"), attribute.String("outcome", "StatusUpdated")}},
		{"object.operation.retries", []attribute.KeyValue{attribute.String("operation", "CreateOrUpdate"), attribute.String("error_class", "Conflict")}},
	} {
		if got, _ := counted(t, tc.name, tc.with...); got == 0 {
			t.Errorf("%s has no data with %v", tc.name, tc.with)
		}
	}
}

func TestT40_Spans_PlanHasOperationsWithTheirRequests(t *testing.T) {
	s := newScene(t)
	s.runTask("", first, crud.Created, crud.Created, crud.AlreadyAbsent)
	byID := map[string]sdktrace.ReadOnlySpan{}
	for _, span := range spans.Ended() {
		byID[span.SpanContext().SpanID().String()] = span
	}
	var paths []string
	for _, span := range byID {
		path, top := span.Name(), span
		for {
			parent, ok := byID[top.Parent().SpanID().String()]
			if !ok {
				break
			}
			path, top = parent.Name()+" / "+path, parent
		}
		if inNamespace(byID, span, s.ns) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, want := range []string{
		"RunPlan / Create ConfigMap", "RunPlan / Create ConfigMap / POST", "RunPlan / Preflight / CreateOrUpdate ConfigMap / GET",
		"RunPlan / Preflight / CreateOrUpdate ConfigMap / POST", "RunPlan / CreateOrUpdate ConfigMap / POST", "RunPlan / EnsureDeleted ConfigMap / GET",
	} {
		if !slices.Contains(paths, want) {
			t.Errorf("there is no span %s in\n%s", want, strings.Join(paths, "\n"))
		}
	}
}

// inNamespace reports whether a span or its parent is of an operation in a namespace.
func inNamespace(byID map[string]sdktrace.ReadOnlySpan, span sdktrace.ReadOnlySpan, namespace string) bool {
	for span != nil {
		if slices.Contains(span.Attributes(), attribute.String("crud.namespace", namespace)) {
			return true
		}
		span = byID[span.Parent().SpanID().String()]
	}
	return false
}

func TestT39_CreateOrUpdate_AnotherWriterUndoesIt_IsDelayed(t *testing.T) {
	s := newScene(t)
	op := crud.CreateOrUpdate(s.object(`{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: fought}, spec: {size: 1}}`))
	s.run(op, crud.Created)
	const enough = 7
	var warnings []string
	var took []time.Duration
	for range enough {
		s.patch(widgets, "fought", `{"spec":{"size":2}}`)
		start := time.Now()
		result := s.run(op, crud.Updated)
		took, warnings = append(took, time.Since(start)), append(warnings, result.Warnings...)
	}
	if fights, keys := counted(t, "object.write.fights", attribute.String("kind", "Widget")); fights < 2 || !slices.Equal(keys, []string{"group", "kind"}) {
		t.Errorf("%d fights were counted, with the labels %q", fights, keys)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "field manager other, which writes .spec.size") {
		t.Errorf("the warnings are %q", warnings)
	}
	if took[5] < 250*time.Millisecond || took[6] < 500*time.Millisecond {
		t.Errorf("the writes took %v", took)
	}
	s.patch(widgets, "fought", `{"spec":{"size":2}}`)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.client.Run(ctx, op); crud.ClassOf(err) != crud.Canceled {
		t.Errorf("the context ended during the delay: %v", err)
	}
	// A state that another writer has restored is not written.
	s.patch(widgets, "fought", `{"spec":{"size":1}}`)
	s.run(op, crud.Unchanged)
}
