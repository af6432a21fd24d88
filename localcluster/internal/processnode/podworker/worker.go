/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"context"
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
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/volume"
)

const (
	// A container that ends is started again after this long, twice as long each time, as by a kubelet.
	firstBackOff, lastBackOff = 10 * time.Second, 5 * time.Minute
	// Missing objects are read again after this delay, which doubles each time.
	firstRetry, lastRetry = 500 * time.Millisecond, 10 * time.Second
	// refreshInterval is the interval at which volumes are filled again; a kubelet takes about as long to notice a change.
	refreshInterval = 20 * time.Second
)

// Node holds the state that all Pods of a Node share.
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

	// stop ends the Pod gently, kill at once.
	stop, kill       context.Context //nolint:containedctx // the life of the Pod, which no call bounds
	stopNow, killNow context.CancelFunc
	changed          chan struct{}
	done             chan struct{}

	mu     sync.Mutex
	pod    *corev1.Pod
	states map[string]*state
	over   bool
	// abandoned lets the Pod end without a report to the API server.
	abandoned bool
	reason    string
	message   string
}

// state holds the state of one container.
type state struct {
	status corev1.ContainerStatus
	// logs are the files of the execution that is or was last, and of the one before.
	log, previousLog string
	process          *container.Process
	spec             container.Spec
	execution        *execution
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
	for name, s := range w.states {
		s.compare(containerOf(w.pod, name).Image)
	}
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
