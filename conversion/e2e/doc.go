/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package e2e edits objects of two kinds with kubectl at both of their versions, while webhooks of knative.dev/pkg and of
// controller-runtime convert them. It holds tests only.
//
// The kinds have what makes released APIs hard to convert: Scaler has the metrics of HorizontalPodAutoscaler, and Task the parameters,
// steps and conditions of Tekton's Task. The packages in controllerruntime are copies of those in knative, generated for the other interface.
package e2e
