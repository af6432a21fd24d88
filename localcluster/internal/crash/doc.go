/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package crash turns the places where the linked-in components end the process on their own (klog's Fatal and Exit,
// the fatal level of etcd's logger) into an error that the cluster's owner receives, so that it can stop the rest, clean
// up and say in one line what happened. It does not catch Go panics: those end the process with a trace, as bugs should.
package crash
