/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package observe shows the contract of package observe with a real API server, whose watches a proxy interrupts. Each case runs with
// lists that are streamed by a watch and with lists that are not.
package observe
