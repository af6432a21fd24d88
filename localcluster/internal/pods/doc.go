/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pods plays the scheduler and the kubelet of a cluster that has one Node and runs nothing: it binds each Pod to
// the Node, reports it Running and Ready with a separate address, and completes its deletion.
//
//	            bind                    status: Running, Ready, IP
//	no Node  ----------->  on the Node  -------------------------->  reported
//	   |                        |                                       |
//	   | deleted                | deleted, then removed with grace 0    |
//	   +------------------------+---------------------------------------+---> gone
//
// It starts no container, fits no resources, honors no selector or taint, pulls no image, and never lets a Pod fail or
// finish. A Pod with scheduling gates stays Pending, and one with readiness gates is Ready once others set these.
package pods
