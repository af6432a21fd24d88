/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package e2e edits objects of a kind with kubectl at both of its versions, while webhooks of knative.dev/pkg and of
// controller-runtime convert them. It holds tests only.
//
// The kind has what makes released APIs hard to convert: the metrics of HorizontalPodAutoscaler, and the parameters, steps and conditions of
// Tekton's Task. The packages in controllerruntime are copies of those in knative, generated for the other interface.
package e2e
