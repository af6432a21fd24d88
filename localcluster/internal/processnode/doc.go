/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package processnode is a Node whose Pods are local processes: a Node in the cluster, with a worker for each Pod that is
// bound to it, and the server from which the API server reads logs.
//
//	registry -> image -> container <- environment, volume, ports
//	                         ^
//	    podworker (one for each Pod) -> probe, podstatus, logs
//	         ^                                    ^
//	      this package, and kubelet, which serves logs, and exec and port-forward by streams
//
// Only Pods all of whose images are in the local registry are executed. A Pod that is bound to the Node with any other
// image is rejected, and an image that is changed later is not pulled. Ephemeral containers are never run.
//
// The Node itself and its lease are virtual-kubelet's. Its server for exec and port-forward is not used: it does not build with
// every version of Kubernetes that the control plane builds with. Nor is its Pod controller: it resolves the environment
// itself, before anything could be reported as a cluster does, waits for the whole grace period when a Pod is deleted, and
// writes labels and finalizers back together with the status.
package processnode
