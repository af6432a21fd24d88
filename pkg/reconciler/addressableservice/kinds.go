/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// addressableLabelKey on a CRD says that its objects carry an address, as
// knative.dev/pkg/apis/duck/README.md defines.
const addressableLabelKey = "duck.knative.dev/addressable"

// findKind finds the resource that serves a kind which may have addresses.
func (r *Reconciler) findKind(gvk schema.GroupVersionKind) (kinds.Served, *problem.Problem) {
	kind, err := r.kinds.Find(gvk)
	if _, ok := errors.AsType[*kinds.NotServedError](err); ok {
		return kinds.Served{}, problem.Newf(v1.ReasonTargetKindNotFound, "%v", err)
	}
	if errors.Is(err, kinds.ErrNotKnown) {
		return kinds.Served{}, problem.Newf(v1.ReasonTargetNotSynced, "%v", err)
	}
	if err != nil {
		// Discovery is retried in the background, and its answer enqueues the object.
		return kinds.Served{}, problem.Newf(v1.ReasonTargetUnavailable, "%v", err)
	}
	if kind.BuiltIn {
		return kinds.Served{}, problem.Newf(v1.ReasonTargetNotAddressable,
			"%s is a built-in kind, of which only Service has an address", gvk.GroupKind())
	}
	return kind, nil
}
