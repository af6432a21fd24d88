/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package freshness

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Writer is the part of the generated client of a kind by which its generated reconciler writes: the status, and the
// finalizer by a patch.
type Writer[T metav1.Object] interface {
	UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// Recorder is a Writer that records what it writes. The generated reconciler throws the answers of the API server away,
// which alone say what version its write made, so its client has to be wrapped: by a struct that embeds a Recorder, and
// the client one level deeper, so that the Recorder's methods win.
type Recorder[T metav1.Object] struct {
	writer Writer[T]
	writes *Writes
}

// NewRecorder returns a Recorder that writes by a client and records to writes.
func NewRecorder[T metav1.Object](client Writer[T], writes *Writes) Recorder[T] {
	return Recorder[T]{writer: client, writes: writes}
}

// UpdateStatus implements Writer.
func (r Recorder[T]) UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return r.recorded(r.writer.UpdateStatus(ctx, obj, opts))
}

// Patch implements Writer.
func (r Recorder[T]) Patch(
	ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string,
) (T, error) {
	return r.recorded(r.writer.Patch(ctx, name, pt, data, opts, subresources...))
}

func (r Recorder[T]) recorded(written T, err error) (T, error) {
	if err == nil {
		r.writes.Record(written)
	}
	return written, err
}
