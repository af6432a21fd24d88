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

func TestConfigurable_Skeleton_Implements(t *testing.T) {
	if err := duck.VerifyType(&ConfigurableType{}, &Configurable{}); err != nil {
		t.Error(err)
	}
}

func TestConfigurable_KindWithoutIt_FailsVerification(t *testing.T) {
	if err := duck.VerifyType(&corev1.Pod{}, &Configurable{}); err == nil {
		t.Error("a Pod passes as Configurable")
	}
}
