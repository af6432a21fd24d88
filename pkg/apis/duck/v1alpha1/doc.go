/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha1 holds the duck types of this project: parts of a resource that any kind may have, and by which others
// read or write it without knowing the rest. Those of Knative are in knative.dev/pkg/apis/duck.
//
// Each follows the three conventions of knative.dev/pkg/apis/duck: a struct whose name ends in -able, a field that is
// called as the struct, and skeletal layers around it that say where in a resource it stands.
//
// Kinds do not belong here, nor does anything that reads or writes them.
//
// +k8s:deepcopy-gen=package
// +groupName=duck.samples.knative.dev
package v1alpha1
