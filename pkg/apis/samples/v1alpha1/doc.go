/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha1 is the first version of samples.knative.dev: the types of Knative's sample-controller, field for field,
// so that manifests written for that one apply unchanged.
//
// An AddressableService is shown at this version and written at it, never stored, and no reconciler and no generated client
// knows it. Properties for which it has no field are kept in an annotation, see conversion. Nothing is added to it; who needs more uses a
// newer version.
//
// A SimpleDeployment has no other version yet: it is stored at this one, and reconciled.
//
// +k8s:deepcopy-gen=package
// +groupName=samples.knative.dev
// +conversion-gen:next=github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1
package v1alpha1
