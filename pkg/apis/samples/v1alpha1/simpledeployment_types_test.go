/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"testing"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	duckv1alpha1 "github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
)

func TestSimpleDeployment_Type_ImplementsItsDuckTypes(t *testing.T) {
	for name, implementable := range map[string]duck.Implementable{
		"Configurable": &duckv1alpha1.Configurable{},
		"Conditions":   &duckv1.Conditions{},
	} {
		t.Run(name, func(t *testing.T) {
			if err := duck.VerifyType(&SimpleDeployment{}, implementable); err != nil {
				t.Error(err)
			}
		})
	}
}
