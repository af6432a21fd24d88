/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package processnode is a Node whose Pods are local processes: a Node in the cluster, with a worker for each Pod that is
// bound to it, and the server that the API server asks for logs.
//
//	registry -> image -> container <- environment, volume, ports
//	                         ^
//	    podworker (one for each Pod) -> probe, podstatus, logs
//	         ^                                    ^
//	      this package, and kubelet, which serves logs, exec and port-forward
//
// Only Pods all of whose images are in the local registry are executed. A Pod that is bound to the Node with any other
// image is rejected, and an image that is changed later is not pulled. Ephemeral containers are never run.
//
// The Node itself, its lease and the streams of exec and port-forward are virtual-kubelet's. Its Pod controller is not used:
// it resolves the environment itself, before anything could be reported as a cluster does, waits for the whole grace
// period when a Pod is deleted, and writes labels and finalizers back together with the status.
package processnode
