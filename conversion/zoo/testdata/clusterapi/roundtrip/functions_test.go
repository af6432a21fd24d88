/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/randfill"
)

// Random versions would hardly ever have a group.
func init() {
	conversionFunctions = append(conversionFunctions, func(reference *corev1.ObjectReference, c randfill.Continue) {
		c.FillNoCustom(reference)
		versions := []string{reference.APIVersion, "v1", "infrastructure.cluster.x-k8s.io/v1beta1", "bootstrap.cluster.x-k8s.io/v1beta2", "no/version/"}
		reference.APIVersion = versions[c.Intn(len(versions))]
	})
}
