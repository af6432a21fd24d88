/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package streams serves those requests of the API server to a Node that become a connection with several streams: a
// command in a container, and connections to the ports of a Pod. It speaks as kubelets do: SPDY, version 4 of the
// protocol for commands, version 1 of that for ports. The API server translates the other protocols of its clients.
//
// Its callers run the command, and connect to the port. There are no terminals: a client that wants one
// gets what is written to standard error on its only output, and the sizes that it sends are dropped.
package streams
