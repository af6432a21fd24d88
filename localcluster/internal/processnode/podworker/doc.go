/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package podworker brings one Pod through its life on the process node: volumes, init containers, containers with their
// images, probes and restarts, and its end.
//
//	          volumes        init containers         the others
//	bound  ------------> filled ------------> initialized ------------> running --- all ended, none restarts ---> over
//	   |                    |                      |                       |
//	   | deleted: SIGTERM, the grace period, SIGKILL, last status, removed from the API server
//	   +--------------------+----------------------+-----------------------+---> gone
//
// A container by itself goes
//
//	         1 image there    2 variables known    3 root folder made    4 started
//	waiting -------------> . -----------------> . ------------------> . -----------> running
//	   ^                                                                                | ended, or killed by its
//	   |                                                                                | liveness or startup probe
//	   +------- CrashLoopBackOff, longer each time, as long as the restart policy says ---+
//
// and waits with ErrImagePull and then ImagePullBackOff where it cannot get to 1, with CreateContainerConfigError before 2,
// CreateContainerError before 3 and RunContainerError before 4.
//
// States, reasons and events are those of a kubelet. There are no hooks, no ephemeral containers and no limits on resources.
// Package processnode selects the Pods. Images are pulled from the local registry only.
package podworker
