/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package podworker brings one Pod through its life on the process node: volumes, init containers, containers with their
// images, probes and restarts, and its end.
//
//	          volumes        init containers
//	bound  ------------> filled ------------> initialized ------------> running --- all ended, none restarts ---> over
//	   |                    |                      |                       |
//	   | deleted: SIGTERM, the grace period, SIGKILL, last status, removed from the API server
//	   +--------------------+----------------------+-----------------------+---> gone
//
// A container by itself goes
//
//	            image there      variables known     root folder made     started
//	waiting --------------> . ----------------> . ----------------> . ----------------> running
//	   ^   ErrImagePull       CreateContainer-      RunContainer-
//	   |   ImagePullBackOff   ConfigError           Error               | ended, or killed by its
//	   |                                                                                   | liveness or startup probe
//	   +---- CrashLoopBackOff, longer each time, as long as the restart policy says -------+
//
// States, reasons and events are those of a kubelet. There are no hooks, no ephemeral containers and no limits on resources.
// Which Pods get a worker is not decided here, but every image is asked for in the local registry and nowhere else.
package podworker
