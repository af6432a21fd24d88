/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/apis/duck"
)

func TestItsSkeletonIsConfigurable(t *testing.T) {
	if err := duck.VerifyType(&ConfigurableType{}, &Configurable{}); err != nil {
		t.Error(err)
	}
}

func TestVerificationFindsAKindWithoutIt(t *testing.T) {
	if err := duck.VerifyType(&corev1.Pod{}, &Configurable{}); err == nil {
		t.Error("a Pod passes as Configurable")
	}
}
