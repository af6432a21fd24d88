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
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/container"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/image"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/podstatus"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/volume"
)

const (
	// A container that ends is started again after this long, twice as long each time, as by a kubelet.
	firstBackOff, lastBackOff = 10 * time.Second, 5 * time.Minute
	// What is missing is looked for again after this long, twice as long each time.
	firstRetry, lastRetry = 500 * time.Millisecond, 10 * time.Second
	// refreshInterval is how often volumes are filled again; a kubelet takes about as long to notice a change.
	refreshInterval = 20 * time.Second
)

// Node is what all Pods of a Node share.
type Node struct {
	Client   kubernetes.Interface
	Recorder record.EventRecorder
	Images   *image.Store
	Runtime  *container.Runtime
	Ports    *ports.Table
	// Dir has one folder for each Pod, with its UID as the name.
	Dir string
	// IP is the Node's address, Allocatable what it offers.
	IP          string
	Allocatable corev1.ResourceList
	// Server is the API server's address, host and port, and CA verifies it, as PEM.
	Server string
	CA     []byte
}

// Worker is one Pod on the Node.
type Worker struct {
	node    *Node
	ip      string
	dir     string
	started metav1.Time
	local   map[int32]int
	volumes *volume.Volumes
	backOff *flowcontrol.Backoff
	pulls   *flowcontrol.Backoff

	// stop ends the Pod gently, kill at once; abandon lets it end without telling the API server.
	stop, kill       context.Context
	stopNow, killNow context.CancelFunc
	changed          chan struct{}
	done             chan struct{}

	mu        sync.Mutex
	pod       *corev1.Pod
	states    map[string]*state
	over      bool
	abandoned bool
	reason    string
	message   string
}

// state is what is known of one container.
type state struct {
	status corev1.ContainerStatus
	// logs are the files of the execution that is or was last, and of the one before.
	log, previousLog string
	process          *container.Process
	spec             container.Spec
	startupDone      bool
	probeReady       bool
}

// Start begins with a Pod that has been bound to the Node, under the given address, which no other Pod has.
func Start(ctx context.Context, node *Node, pod *corev1.Pod, ip string) *Worker {
	w := &Worker{
		node: node, ip: ip, pod: pod, dir: filepath.Join(node.Dir, string(pod.UID)),
		started: metav1.Now(),
		backOff: flowcontrol.NewBackOff(firstBackOff, lastBackOff),
		pulls:   flowcontrol.NewBackOff(firstBackOff, lastBackOff),
		changed: make(chan struct{}, 1), done: make(chan struct{}),
		states: map[string]*state{},
	}
	if pod.Status.StartTime != nil {
		w.started = *pod.Status.StartTime
	}
	w.recall()
	w.stop, w.stopNow = context.WithCancel(ctx)
	w.kill, w.killNow = context.WithCancel(context.WithoutCancel(ctx))
	go w.run(ctx)
	return w
}

// Done is closed when nothing of the Pod is left on the Node.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Pod returns the newest Pod.
func (w *Worker) Pod() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod
}

// Update gives the worker a newer version of its Pod. The first that is being deleted begins its end.
func (w *Worker) Update(pod *corev1.Pod) {
	if !w.take(pod) {
		return
	}
	if pod.DeletionTimestamp != nil {
		w.terminate(pod)
	}
	w.poke()
}

// take keeps a Pod if it is not older than the one that is known: what comes from a watch may be behind what was written.
func (w *Worker) take(pod *corev1.Pod) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if older(pod.ResourceVersion, w.pod.ResourceVersion) {
		return false
	}
	w.pod = pod
	return true
}

// older compares two resource versions of one object. Those of etcd are numbers without leading zeros (KEP-5504); a
// Kubernetes from before that, which this has to compile with, has no function for it.
func older(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// Remove ends a Pod that the API server does not have any more.
func (w *Worker) Remove() {
	w.mu.Lock()
	w.abandoned = true
	w.mu.Unlock()
	w.stopNow()
	w.killNow()
}

// Abandon ends the Pod's processes because the Node ends: gently first, and at once after a while. The Pod stays what it is.
func (w *Worker) Abandon(grace time.Duration) {
	w.mu.Lock()
	w.abandoned = true
	w.mu.Unlock()
	w.stopNow()
	time.AfterFunc(grace, w.killNow)
}

// terminate begins the end, or brings it nearer.
func (w *Worker) terminate(pod *corev1.Pod) {
	var grace time.Duration
	if pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	w.stopNow()
	time.AfterFunc(grace, w.killNow)
}

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

	var sidecars sync.WaitGroup
	// Sidecars end after the others, and not by themselves.
	sidecarsCtx, endSidecars := context.WithCancel(context.WithoutCancel(w.stop))
	defer sidecars.Wait()
	defer endSidecars()
	if !w.initialize(sidecarsCtx, &sidecars) {
		return
	}
	var running sync.WaitGroup
	for _, c := range w.Pod().Spec.Containers {
		running.Go(func() { w.container(w.stop, c.Name, false) })
	}
	running.Wait()
}

// initialize runs the init containers one after the other, and says whether the others may start.
func (w *Worker) initialize(sidecarsCtx context.Context, sidecars *sync.WaitGroup) bool {
	for _, c := range w.Pod().Spec.InitContainers {
		if podstatus.Sidecar(&c) {
			sidecars.Go(func() { w.container(sidecarsCtx, c.Name, true) })
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
		Dir: filepath.Join(w.dir, "volumes"), Owners: w.node.Runtime.Isolated(),
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
		// As with a kubelet, what was there stays when the new cannot be had.
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

// Discard removes the Pod's folder. It is called when the Pod is gone.
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
