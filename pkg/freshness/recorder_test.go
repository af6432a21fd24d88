/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package freshness

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// answering is a client whose server answers each write with the same.
type answering struct {
	written *corev1.ConfigMap
	err     error
}

func (a answering) UpdateStatus(context.Context, *corev1.ConfigMap, metav1.UpdateOptions) (*corev1.ConfigMap, error) {
	return a.written, a.err
}

func (a answering) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*corev1.ConfigMap, error) {
	return a.written, a.err
}

func TestRecorderRecordsWhatTheServerAnswered(t *testing.T) {
	errInduced := errors.New("induced")
	for name, write := range map[string]func(Writer[*corev1.ConfigMap]) (*corev1.ConfigMap, error){
		"UpdateStatus": func(w Writer[*corev1.ConfigMap]) (*corev1.ConfigMap, error) {
			return w.UpdateStatus(t.Context(), at("9"), metav1.UpdateOptions{})
		},
		"Patch": func(w Writer[*corev1.ConfigMap]) (*corev1.ConfigMap, error) {
			return w.Patch(t.Context(), "it", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			writes, answer := NewWrites(), at("10")
			if _, err := write(NewRecorder(answering{written: answer, err: errInduced}, writes)); !errors.Is(err, errInduced) {
				t.Errorf("the write ends with %v, want the server's error", err)
			}
			if writes.Behind(at("9")) {
				t.Error("a write that failed is recorded")
			}
			if got, err := write(NewRecorder(answering{written: answer}, writes)); err != nil || got != answer {
				t.Errorf("the write ends with %v, %v, want the server's answer", got, err)
			}
			if !writes.Behind(at("9")) {
				t.Error("the write is not recorded")
			}
		})
	}
}
