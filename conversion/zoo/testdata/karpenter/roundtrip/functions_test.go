/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"sigs.k8s.io/randfill"

	v1 "example.com/karpenter/v1"
	v1beta1 "example.com/karpenter/v1beta1"
)

// Random durations would hardly ever be written as JSON, which only their raw form shows, and random versions would hardly ever have a group.
func init() {
	read := func(c randfill.Continue, to interface{ UnmarshalJSON([]byte) error }) {
		durations := []string{`"Never"`, `"0s"`, `"30s"`, `"1h30m"`, `"90m"`, `"720h"`}
		if err := to.UnmarshalJSON([]byte(durations[c.Intn(len(durations))])); err != nil {
			panic(err) // they are valid
		}
	}
	conversionFunctions = append(conversionFunctions,
		func(duration *v1beta1.NillableDuration, c randfill.Continue) { read(c, duration) },
		func(duration *v1.NillableDuration, c randfill.Continue) { read(c, duration) },
		func(reference *v1beta1.NodeClassReference, c randfill.Continue) {
			c.FillNoCustom(reference)
			versions := []string{reference.APIVersion, "karpenter.k8s.aws/v1beta1", "karpenter.azure.com/v1alpha2", "v1", ""}
			reference.APIVersion = versions[c.Intn(len(versions))]
		},
	)
}
