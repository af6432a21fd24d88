/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Localcluster is a Kubernetes control plane in one process, for development and tests: etcd, the API server, the
// controllers that an operator's objects depend on, and a loop that pretends to run Pods. "localcluster up" starts one
// and prints the path of its kubeconfig; "localcluster kubectl" is the kubectl of the same version.
//
// It is a module of its own so that the operator's module stays free of k8s.io/kubernetes and its replaced
// dependencies. Programs of the operator's module run it as a subprocess.
//
// What it does not do: run containers, route Service traffic, start Deployments or any other workload kind, survive the
// loss of the machine (etcd does not sync its files unless --fsync is given), or serve anything but the loopback
// interface.
package main
