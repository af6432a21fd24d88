/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

func noCauses() []string { return nil }

func TestInstrument_Reconciliations_AreCountedAndMeasuredByResult(t *testing.T) {
	failure := errors.New("no")
	returns := map[string]error{
		"ns/good": nil, "ns/skip": controller.NewSkipKey("ns/skip"), "ns/later": controller.NewRequeueAfter(time.Hour),
		"ns/bad": failure, "ns/hopeless": controller.NewPermanentError(failure),
	}
	k := NewKind(kindOf(t))
	kind := attributes{"kind": kindOf(t)}
	for _, result := range results {
		of := attributes{"kind": kindOf(t), "result": string(result)}
		if !known(t, "reconcile", of) || measured(t, "reconcile", of) != 0 {
			t.Errorf("result %s is not counted from 0", result)
		}
	}
	for key, err := range returns {
		_, end := k.Begin(t.Context(), key, noCauses)
		end(err)
	}
	for result, want := range map[Result]float64{
		ResultSuccess: 1, ResultSkip: 1, ResultRequeue: 1, ResultConflict: 0, ResultError: 1, ResultPermanentError: 1,
	} {
		of := attributes{"kind": kindOf(t), "result": string(result)}
		if got := measured(t, "reconcile", of); got != want {
			t.Errorf("%v reconciliations with result %s, want %v", got, result, want)
		}
		if got := measured(t, "reconcile.duration", of); got != want {
			t.Errorf("%v measured reconciliations with result %s, want %v", got, result, want)
		}
	}
	if got := measured(t, "reconcile.active", kind); got != 0 || !known(t, "reconcile.active", kind) {
		t.Errorf("%v reconciliations are active after all have ended", got)
	}
}

func TestInstrument_Span_HasKeyResultAndError(t *testing.T) {
	failure := errors.New("the target was deleted")
	k := NewKind(kindOf(t))
	for key, err := range map[string]error{"ns/good": nil, "ns/bad": failure} {
		ctx, end := k.Begin(t.Context(), key, noCauses)
		if !trace.SpanContextFromContext(ctx).IsSampled() {
			t.Error("the reconciler's context has no span")
		}
		end(err)
	}
	found := spansOf(kindOf(t))
	slices.SortFunc(found, func(a, b sdktrace.ReadOnlySpan) int {
		return strings.Compare(attributeOf(b, "reconcile.key").AsString(), attributeOf(a, "reconcile.key").AsString())
	})
	if len(found) != 2 {
		t.Fatalf("there are %d spans, want one for each reconciliation", len(found))
	}
	for i, want := range []struct{ key, result, status string }{{"ns/good", "success", ""}, {"ns/bad", "error", failure.Error()}} {
		span := found[i]
		key, result := attributeOf(span, "reconcile.key").AsString(), attributeOf(span, "reconcile.result").AsString()
		if key != want.key || result != want.result || span.Status().Description != want.status {
			t.Errorf("the span says %s, %s, %q; want %v", key, result, span.Status().Description, want)
		}
		if (span.Status().Code == codes.Error) != (want.status != "") {
			t.Errorf("the status of the span of %s is %v", key, span.Status().Code)
		}
	}
}

// bucket is a lease.
type bucket struct {
	reconciler.Bucket

	name string
}

func (b bucket) Name() string { return b.name }

func TestLeads_BucketWithoutName_IsNone(t *testing.T) {
	k := NewKind(kindOf(t))
	for name, lease := range map[string]string{"lease-1": "lease-1", "": "none"} {
		held := attributes{"kind": kindOf(t), "lease": lease}
		k.Leads(bucket{name: name}, true)
		if got := measured(t, "leader.held", held); got != 1 {
			t.Errorf("after the promotion the metric of %s is %v", lease, got)
		}
		k.Leads(bucket{name: name}, false)
		if got := measured(t, "leader.held", held); got != 0 {
			t.Errorf("after the demotion the metric of %s is %v", lease, got)
		}
	}
}

func TestTriggered_CausesAreCounted(t *testing.T) {
	k := NewKind(kindOf(t))
	k.Triggered("updated", "Service")
	k.Triggered("updated", "Service")
	if got := measured(t, "reconcile.triggers", attributes{"kind": kindOf(t), "cause": "updated", "source": "Service"}); got != 2 {
		t.Errorf("%v events are counted, want 2", got)
	}
}
