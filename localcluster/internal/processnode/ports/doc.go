/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package ports gives the processes of one machine ports of their own, and knows where each port of each Pod is served.
//
// Pods have addresses that lead nowhere, and all their processes share the loopback interface. So a port that a container
// declares is told to its process, in the environment variable that has the port's number as its value, as another number
// which is free; whoever looks for the Pod's address and port is led there.
package ports
