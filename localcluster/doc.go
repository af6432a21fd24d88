/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Localcluster is a Kubernetes control plane in one process, for development and tests: etcd, the API server, the
// controllers that an operator's objects depend on, and a loop that pretends to run Pods. "localcluster up" starts one
// and prints the path of its kubeconfig; "localcluster kubectl" is the kubectl of the same version, and "localcluster
// stored" shows what is in etcd. With --registry (Linux only) it also serves a registry of images, runs Pods with images
// from there as processes of this machine, places Pods with Kubernetes' own scheduler, and has the controllers of
// Deployments and the other workloads.
//
// It is a separate module so that the operator's module stays free of k8s.io/kubernetes and its replaced
// dependencies. Programs of the operator's module run it as a subprocess.
//
// The environment variable LOCALCLUSTER_KUBERNETES has it built with another version of Kubernetes, by a go.mod from versions/.
// Where the versions differ in code, a file for one of them has its build tag, such as kubernetes1.34, and a file next to it is for the others.
//
// It does not: run an image of any other registry, route Service traffic, separate processes from each other as
// containers are, survive the loss of the machine (etcd does not sync its files unless --fsync is given), or serve
// anything but the loopback interface.
package main
