/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"fmt"

	"knative.dev/pkg/leaderelection"
)

// Identity is what a process calls itself in its lease. It is the same for every
// process that a Pod has one after the other, so that a container that was restarted
// takes up the lease that it left behind instead of waiting until that has run out.
// The kubelet never has two of them at a time. Without the UID of a Pod, as when a
// binary is run by hand, it is a new one for each process.
func Identity(podName, podUID string) (string, error) {
	if podUID != "" {
		return podName + "_" + podUID, nil
	}
	id, err := leaderelection.UniqueID()
	if err != nil {
		return "", fmt.Errorf("making an identity for the lease: %w", err)
	}
	return id, nil
}
