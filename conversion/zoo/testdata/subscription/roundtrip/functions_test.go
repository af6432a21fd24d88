/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"github.com/mallard-dev/mallard/conversion/conversiontest"
	duckv1 "knative.dev/eventing/pkg/apis/duck/v1"
	duckv1beta1 "knative.dev/eventing/pkg/apis/duck/v1beta1"
)

// Upstream rejects other values.
func init() {
	conversionFunctions = append(conversionFunctions,
		conversiontest.OneOf[duckv1.BackoffPolicyType]("linear", "exponential"),
		conversiontest.OneOf[duckv1beta1.BackoffPolicyType]("linear", "exponential"),
	)
}
