/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program behind `make run`: it starts a local control plane, applies the operator's manifests and its samples as they
// are, runs the operator's processes, and shows a table that follows the samples until Ctrl-C. Nothing outlives
// it.
//
// With a command behind "--" it applies no samples, but runs the command with the path of the kubeconfig in LOCALCLUSTER_KUBECONFIG, which package
// harness reads, and exits with the status of the command. If the command fails, the logs of the operator are kept:
//
//	run -- go test ./test/...
//
// With --kubeconfig it creates the operator, from images, and the samples in an existing cluster instead, and removes them at its end.
//
// With --wait=ready it ends once every sample is Ready, or says why one is not. How the parts are started is in
// localcluster/env/internal/environment; what is here is for the eyes.
package main
