/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// Random selectors would hardly ever be empty, or select by the label that stands for an empty one.
func init() {
	conversionFunctions = append(conversionFunctions, func(selector *metav1.LabelSelector, c randfill.Continue) {
		c.FillNoCustom(selector)
		const label = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
		only := func(operator metav1.LabelSelectorOperator) metav1.LabelSelector {
			return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: label, Operator: operator}}}
		}
		switch c.Intn(6) {
		case 0:
			*selector = metav1.LabelSelector{}
		case 1:
			*selector = only(metav1.LabelSelectorOpExists)
		case 2:
			*selector = only(metav1.LabelSelectorOpDoesNotExist)
		}
	})
}
