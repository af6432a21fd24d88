/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processnode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/container"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/image"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/kubelet"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/podworker"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
)

const (
	// Name is the Node's.
	Name = "process"
	// ReasonForeignImage is the reason for the rejection of a Pod that is bound to the Node with an image of another registry.
	ReasonForeignImage = "ForeignImage"

	// stopGrace is the time that processes have to exit when the Node stops.
	stopGrace = 3 * time.Second
	// requestLimit bounds the request that removes a Pod, or rejects one.
	requestLimit = 10 * time.Second
)

// Options configure the Node.
type Options struct {
	// Client acts for the Node. It has all permissions, since it reads what Pods refer to.
	Client kubernetes.Interface
	// Dir is the folder of images and Pods, Host the address of the registry.
	Dir, Host string
	// Server is the API server's address, host and port, and CAPEM verifies it and its clients.
	Server string
	CAPEM  []byte
	// CertPEM and KeyPEM are the Node's own, for 127.0.0.1. ServerUser is who the API server is to the Node.
	CertPEM, KeyPEM []byte
	ServerUser      string
	// Address returns the address of a Pod, a new one if it has none.
	Address func(types.UID) (string, error)
	// NodeIP is the Node's address within the cluster.
	NodeIP string
	// Table holds the ports of Pods.
	Table *ports.Table
}

// Node is the process node while it runs.
type Node struct {
	opts      Options
	node      *podworker.Node
	server    *kubelet.Server
	informer  cache.SharedIndexInformer
	factory   informers.SharedInformerFactory
	events    record.EventBroadcaster
	registrar *registrar

	mu      sync.Mutex
	ending  bool
	workers map[types.UID]*podworker.Worker
}

// Supported reports whether an operating system, by its name in Go, can have a process node.
func Supported(system string) bool { return system == "linux" }

// New prepares the Node, and removes the folders of deleted Pods.
func New(ctx context.Context, opts Options) (*Node, error) {
	processes, err := container.NewRuntime()
	if err != nil {
		return nil, fmt.Errorf("preparing to run processes: %w", err)
	}
	images, err := image.New(filepath.Join(opts.Dir, "images"), opts.Host, processes.Owners())
	if err != nil {
		return nil, err
	}
	n := &Node{opts: opts, workers: map[types.UID]*podworker.Worker{}}
	n.server, err = kubelet.Start(ctx, kubelet.Options{
		CertPEM: opts.CertPEM, KeyPEM: opts.KeyPEM, CAPEM: opts.CAPEM, Client: opts.ServerUser, Pod: n.find,
	})
	if err != nil {
		return nil, err
	}
	n.factory = informers.NewSharedInformerFactoryWithOptions(opts.Client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", Name).String()
	}))
	n.informer = n.factory.Core().V1().Pods().Informer()
	n.events = record.NewBroadcaster(record.WithContext(ctx))
	object := n.object()
	n.node = &podworker.Node{
		Client: opts.Client, Images: images, Runtime: processes, Ports: opts.Table, Dir: filepath.Join(opts.Dir, "pods"),
		Recorder: n.events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: Name}),
		IP:       opts.NodeIP, Allocatable: object.Status.Allocatable, Server: opts.Server, CA: opts.CAPEM,
	}
	if n.registrar, err = newRegistrar(opts.Client, object); err != nil {
		n.server.Stop()
		return nil, err
	}
	return n, nil
}

// Run works until the context ends, and returns when all processes have ended.
func (n *Node) Run(ctx context.Context) error {
	defer n.server.Stop()
	n.events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: n.opts.Client.CoreV1().Events("")})
	defer n.events.Shutdown()
	_, err := n.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { n.seen(ctx, obj) },
		UpdateFunc: func(_, obj any) { n.seen(ctx, obj) },
		DeleteFunc: n.gone,
	})
	if err != nil {
		return fmt.Errorf("watching the Node's Pods: %w", err)
	}
	if err := os.MkdirAll(n.node.Dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of Pods: %w", err)
	}
	n.factory.Start(ctx.Done())
	if cache.WaitForCacheSync(ctx.Done(), n.informer.HasSynced) {
		n.sweep()
	}
	n.registrar.run(ctx)
	n.end()
	return nil
}

// Ready is closed when the Node is known to the API server.
func (n *Node) Ready() <-chan struct{} { return n.registrar.ready() }

// Isolated reports whether processes have separate roots.
func (n *Node) Isolated() bool { return n.node.Runtime.Isolated() }

// end ends all processes, gently first.
func (n *Node) end() {
	n.mu.Lock()
	n.ending = true
	workers := make([]*podworker.Worker, 0, len(n.workers))
	for _, worker := range n.workers {
		workers = append(workers, worker)
	}
	n.mu.Unlock()
	for _, worker := range workers {
		worker.Abandon(stopGrace)
	}
	for _, worker := range workers {
		<-worker.Done()
	}
}

// find returns a Pod that is on the Node.
func (n *Node) find(namespace, name string) (kubelet.Pod, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, worker := range n.workers {
		if pod := worker.Pod(); pod.Namespace == namespace && pod.Name == name {
			return served{worker}, true
		}
	}
	return nil, false
}

// served is a worker as the server sees it.
type served struct{ *podworker.Worker }

// Running reports whether a container runs.
func (s served) Running(container string) bool {
	_, _, ok := s.Process(container)
	return ok
}
