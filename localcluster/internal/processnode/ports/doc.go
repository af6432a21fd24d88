/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package ports gives the processes of one machine distinct ports, and records the address of each port of each Pod.
//
// Pods have addresses that lead nowhere, and all their processes share the loopback interface. So a process receives a free port for each port that
// its container declares, in the environment variable that has the port's number as its value; connections to the Pod's address and port are
// redirected there.
package ports
