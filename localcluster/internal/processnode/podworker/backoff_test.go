/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
)

// TestBackOff_RepeatedExits_GrowsAndResets checks the delays before the restarts of a container that ends at once, and that the delay is
// reset after a long run.
func TestBackOff_RepeatedExits_GrowsAndResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Worker{
			node:    &Node{Recorder: &record.FakeRecorder{}},
			pod:     &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}},
			backOff: flowcontrol.NewBackOff(firstBackOff, lastBackOff),
			states:  map[string]*state{}, changed: make(chan struct{}, 1),
		}
		restart := func(ran, want time.Duration) {
			t.Helper()
			time.Sleep(ran) //nolint:forbidigo // it passes at once in a bubble
			w.change("main", func(s *state) {
				s.status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.Now()}}
			})
			begun := time.Now()
			if !w.awaitRestart(t.Context(), "main") {
				t.Fatal("it is not started again")
			}
			if took := time.Since(begun); took != want {
				t.Errorf("it waits %s instead of %s", took, want)
			}
		}
		for _, want := range []int{0, 10, 20, 40, 80, 160, 300, 300} {
			restart(0, time.Duration(want)*time.Second)
		}
		restart(2*lastBackOff+time.Second, 0)
		restart(0, firstBackOff)
	})
}
