/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processnode

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/version"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
)

// reasonReady is that of the Node's conditions.
const reasonReady = "ProcessesRun"

// registrar keeps the Node known to the API server.
type registrar struct {
	client     kubernetes.Interface
	controller *node.NodeController
	known      chan struct{}
}

func newRegistrar(client kubernetes.Interface, object *corev1.Node) (*registrar, error) {
	controller, err := node.NewNodeController(node.NewNaiveNodeProvider(), object, client.CoreV1().Nodes(),
		node.WithNodeEnableLeaseV1(client.CoordinationV1().Leases(corev1.NamespaceNodeLease), node.DefaultLeaseDuration))
	if err != nil {
		return nil, fmt.Errorf("preparing the Node %s: %w", Name, err)
	}
	return &registrar{client: client, controller: controller, known: make(chan struct{})}, nil
}

func (r *registrar) run(ctx context.Context) {
	go r.open(ctx)
	if err := r.controller.Run(ctx); err != nil && ctx.Err() == nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Node not kept up to date", "node", Name)
		<-ctx.Done()
	}
}

// open takes away the taint that every new Node gets, which a cluster's controller of Nodes would do.
func (r *registrar) open(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-r.controller.Ready():
	}
	for {
		_, err := r.client.CoreV1().Nodes().Patch(ctx, Name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
		if err == nil {
			close(r.known)
			return
		}
		utilruntime.HandleErrorWithContext(ctx, err, "Node not opened to Pods", "node", Name)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// ready is closed when Pods can be placed on the Node.
func (r *registrar) ready() <-chan struct{} { return r.known }

// object is the Node as it registers itself.
func (n *Node) object() *corev1.Node {
	// Nothing limits what a process takes, so that requests fit whatever the machine has.
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("64Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("64Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	now := metav1.NewTime(time.Now())
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, Reason: reasonReady, Message: "Pods with images of the local registry run as processes",
			LastHeartbeatTime: now, LastTransitionTime: now,
		}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: map[string]string{
			corev1.LabelHostname: Name, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH,
		}},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Conditions: []corev1.NodeCondition{
				condition(corev1.NodeReady, corev1.ConditionTrue),
				condition(corev1.NodeMemoryPressure, corev1.ConditionFalse),
				condition(corev1.NodeDiskPressure, corev1.ConditionFalse),
				condition(corev1.NodePIDPressure, corev1.ConditionFalse),
			},
			// Where the Node serves, which is what the API server dials.
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ports.Loopback}, {Type: corev1.NodeHostName, Address: Name}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: n.server.Port}},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion: version.Get().GitVersion, OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH,
				ContainerRuntimeVersion: "localcluster://" + version.Get().GitVersion,
			},
		},
	}
}
