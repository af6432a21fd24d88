/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	errInduced   = errors.New("induced")
	errConflict  = apierrors.NewConflict(schema.GroupResource{}, "a", errInduced)
	errForbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", errInduced)
	errInternal  = apierrors.NewInternalError(errInduced)
)

func TestFailure_New_HasReasonAndMessage(t *testing.T) {
	if p := Newf("R", "%s has no %q", "it", "name"); p.Reason != "R" || p.Message != `it has no "name"` {
		t.Errorf("Newf() = %+v", p)
	}
	if p := Failed("R", errInduced); p.Reason != "R" || p.Message != "induced" {
		t.Errorf("Failed() = %+v", p)
	}
}

func TestFailure_ConflictOrCancellation_MarksNoCondition(t *testing.T) {
	for name, tc := range map[string]struct {
		failure *Failure
		want    bool
	}{
		"None":     {nil, false},
		"Watched":  {Newf("R", "gone"), true},
		"Rejected": {Failed("R", errForbidden), true},
		"Conflict": {Failed("R", fmt.Errorf("updating: %w", errConflict)), false},
		"Canceled": {Failed("R", fmt.Errorf("reading: %w", context.Canceled)), false},
		"Timeout":  {Failed("R", context.DeadlineExceeded), true},
	} {
		if got := tc.failure.Marked(); got != tc.want {
			t.Errorf("%s: Marked() = %t, want %t", name, got, tc.want)
		}
	}
}
