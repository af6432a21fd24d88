/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1beta1 is the version of samples.knative.dev between v1alpha1, which can only name a Service, and v1: it refers
// to any target, and gives it one address with one port.
//
// Objects are shown at this version and written at it, never stored, and no reconciler and no generated client
// knows it. Properties for which it has no field are kept in an annotation, see conversion.
//
// +k8s:deepcopy-gen=package
// +groupName=samples.knative.dev
// +conversion-gen:next=github.com/mallard-dev/mallard/pkg/apis/samples/v1
package v1beta1
