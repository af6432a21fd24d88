/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/volume"
)

func (w *Worker) run(ctx context.Context) {
	defer close(w.done)
	defer w.clean()
	reports, endReports := context.WithCancel(context.WithoutCancel(ctx))
	var reporting sync.WaitGroup
	reporting.Go(func() { w.report(reports) })
	if w.Pod().DeletionTimestamp != nil {
		w.terminate(w.Pod())
	}
	w.live()
	w.mu.Lock()
	w.over = true
	abandoned := w.abandoned
	w.mu.Unlock()
	endReports()
	reporting.Wait()
	if abandoned {
		return
	}
	w.finish(context.WithoutCancel(ctx))
}

// live is the Pod's life up to where no container runs or will run.
func (w *Worker) live() {
	if err := w.prepare(); err != nil {
		w.fail("CreatePodFailed", err.Error())
		return
	}
	if !w.fillVolumes() {
		return
	}
	refresh, endRefresh := context.WithCancel(w.stop)
	defer endRefresh()
	go w.refreshVolumes(refresh)
	defer w.deadline()()

	var beside []sidecar
	defer func() { w.endSidecars(beside) }()
	if !w.initialize(&beside) {
		return
	}
	var running sync.WaitGroup
	for _, c := range w.Pod().Spec.Containers {
		running.Go(func() { w.container(w.stop, c.Name, false) })
	}
	running.Wait()
}

// sidecar is an init container that keeps running with the others, and is ended after them.
type sidecar struct {
	end  context.CancelFunc
	done chan struct{}
}

func (w *Worker) startSidecar(name string) sidecar {
	ctx, end := context.WithCancel(context.WithoutCancel(w.stop))
	s := sidecar{end: end, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		w.container(ctx, name, true)
	}()
	return s
}

// endSidecars ends them one after the other, the last one first, within the Pod's grace period.
func (w *Worker) endSidecars(all []sidecar) {
	if len(all) == 0 {
		return
	}
	defer time.AfterFunc(w.grace(), w.killNow).Stop()
	for _, s := range slices.Backward(all) {
		s.end()
		<-s.done
	}
}

// initialize runs the init containers one after the other, and reports whether the others can start. It adds the sidecars that it starts.
func (w *Worker) initialize(beside *[]sidecar) bool {
	for _, c := range w.Pod().Spec.InitContainers {
		if podutil.IsRestartableInitContainer(&c) {
			*beside = append(*beside, w.startSidecar(c.Name))
			if !w.waitStarted(c.Name) {
				return false
			}
			continue
		}
		if w.container(w.stop, c.Name, true) != 0 {
			return false
		}
	}
	return w.stop.Err() == nil
}

// prepare gives the Pod its ports and its folder.
func (w *Worker) prepare() error {
	pod := w.Pod()
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return fmt.Errorf("making the Pod's folder: %w", err)
	}
	local, err := w.node.Ports.Add(w.stop, pod, w.ip)
	if err != nil {
		return err
	}
	w.local = local
	w.volumes = &volume.Volumes{
		Client: w.node.Client, Pod: pod, PodIP: w.ip, NodeIP: w.node.IP, Allocatable: w.node.Allocatable,
		Dir: filepath.Join(w.dir, "volumes"), Owners: w.node.Runtime.Owners(),
	}
	return nil
}

func (w *Worker) fillVolumes() bool {
	for delay := firstRetry; ; delay = min(2*delay, lastRetry) {
		err := w.volumes.Fill(w.stop)
		if err == nil {
			return true
		}
		if w.stop.Err() != nil {
			return false
		}
		w.event(corev1.EventTypeWarning, reasonFailedMount, err.Error())
		w.poke()
		if !sleep(w.stop, delay) {
			return false
		}
	}
}

func (w *Worker) refreshVolumes(ctx context.Context) {
	for sleep(ctx, refreshInterval) {
		// As with a kubelet, the old content stays if the new one is not available.
		if err := w.volumes.Fill(ctx); err != nil && ctx.Err() == nil {
			w.event(corev1.EventTypeWarning, reasonFailedMount, err.Error())
		}
	}
}

// deadline ends the Pod when its activeDeadlineSeconds are over.
func (w *Worker) deadline() (cancel func()) {
	seconds := w.Pod().Spec.ActiveDeadlineSeconds
	if seconds == nil {
		return func() {}
	}
	left := time.Until(w.started.Add(time.Duration(*seconds) * time.Second))
	timer := time.AfterFunc(left, func() {
		w.fail("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
		w.event(corev1.EventTypeNormal, "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
		w.stopNow()
		time.AfterFunc(w.grace(), w.killNow)
	})
	return func() { timer.Stop() }
}

func (w *Worker) grace() time.Duration {
	if seconds := w.Pod().Spec.TerminationGracePeriodSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return corev1.DefaultTerminationGracePeriodSeconds * time.Second
}

func (w *Worker) fail(reason, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reason, w.message = reason, message
}

// clean takes back what the Pod had.
func (w *Worker) clean() {
	w.stopNow()
	w.killNow()
	w.node.Ports.Remove(w.Pod().UID, w.ip)
	w.mu.Lock()
	keep := w.abandoned && w.pod.DeletionTimestamp == nil
	w.mu.Unlock()
	// A Pod that has ended keeps its logs until it is deleted.
	if !keep && w.Pod().DeletionTimestamp != nil {
		w.Discard()
	}
}

// Discard removes the Pod's folder. It is called when the Pod is deleted.
func (w *Worker) Discard() {
	for range 3 {
		if err := os.RemoveAll(w.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
