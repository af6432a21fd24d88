/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// noLabel is a label that no Pod has. Kubernetes' own conversion selects by it, too.
const noLabel = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

// selectorUp has an empty selector select no Pods in v1, as in v1beta1.
func selectorUp(selector *metav1.LabelSelector) *metav1.LabelSelector {
	return swapped(selector, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)
}

// selectorDown has an empty selector select all Pods in v1beta1, as in v1.
func selectorDown(selector *metav1.LabelSelector) *metav1.LabelSelector {
	return swapped(selector, metav1.LabelSelectorOpDoesNotExist, metav1.LabelSelectorOpExists)
}

// swapped writes an empty selector by one operator, and one that is written by the other operator as an empty one.
func swapped(selector *metav1.LabelSelector, empty, written metav1.LabelSelectorOperator) *metav1.LabelSelector {
	only := func(operator metav1.LabelSelectorOperator) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: noLabel, Operator: operator}}}
	}
	switch {
	case equality.Semantic.DeepEqual(selector, &metav1.LabelSelector{}):
		return only(empty)
	case equality.Semantic.DeepEqual(selector, only(written)):
		return &metav1.LabelSelector{}
	default:
		return selector.DeepCopy()
	}
}
