/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	duckv1 "knative.dev/eventing/pkg/apis/duck/v1"
	duckv1beta1 "knative.dev/eventing/pkg/apis/duck/v1beta1"
)

func deliveryUp(in *duckv1beta1.DeliverySpec) *duckv1.DeliverySpec {
	in = in.DeepCopy()
	return &duckv1.DeliverySpec{
		DeadLetterSink: in.DeadLetterSink, Retry: in.Retry, BackoffPolicy: (*duckv1.BackoffPolicyType)(in.BackoffPolicy), BackoffDelay: in.BackoffDelay,
	}
}

func deliveryDown(in *duckv1.DeliverySpec) *duckv1beta1.DeliverySpec {
	in = in.DeepCopy()
	return &duckv1beta1.DeliverySpec{
		DeadLetterSink: in.DeadLetterSink, Retry: in.Retry, BackoffPolicy: (*duckv1beta1.BackoffPolicyType)(in.BackoffPolicy), BackoffDelay: in.BackoffDelay,
	}
}
