/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	runv1beta1 "github.com/tektoncd/pipeline/pkg/apis/run/v1beta1"
	"sigs.k8s.io/randfill"
)

// DeepCopy of this type, which is Tekton's, does not copy the list of retries, so that copies share memory.
func init() {
	conversionFunctions = append(conversionFunctions, func(status *runv1beta1.CustomRunStatus, c randfill.Continue) {
		c.FillNoCustom(status)
		status.RetriesStatus = nil
	})
}
