/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package observe shows the contract of package observe with a real API server, whose watches a proxy interrupts. Each case runs with
// lists that are streamed by a watch and with lists that are not, in the process of the test or in separate processes. client-go's detectors of
// changed objects and of wrong lists are enabled, and each case ends without a goroutine of an informer, an observer or a work queue.
package observe
