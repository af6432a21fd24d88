/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha1 is the first version of samples.knative.dev: the types of Knative's sample-controller, field for field,
// so that manifests written for that one apply unchanged.
//
// An AddressableService can be read and written at this version, but is never stored at it, and no reconciler or generated client uses it.
// Properties for which it has no field are kept in an annotation, see conversion. It gets no new fields; clients that need more use a newer
// version.
//
// A SimpleDeployment has no other version yet: it is stored at this one, and reconciled.
//
// +k8s:deepcopy-gen=package
// +groupName=samples.knative.dev
// +conversion-gen:next=github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1
package v1alpha1
