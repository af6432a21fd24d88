/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/conversion"

	v1beta2storage "example.com/clusterapi/v1beta2/storage"
)

// referenceToContract keeps the group of apiVersion, or none if it is invalid.
func referenceToContract(reference *corev1.ObjectReference, _ *metav1.ObjectMeta) *v1beta2storage.ContractVersionedObjectReference {
	group := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind).Group
	return &v1beta2storage.ContractVersionedObjectReference{
		Kind: conversion.NonZero(reference.Kind), Name: conversion.NonZero(reference.Name), APIGroup: conversion.NonZero(group),
	}
}

// contractToReference assumes the version that all providers with the contract v1beta1 have.
func contractToReference(reference *v1beta2storage.ContractVersionedObjectReference, object *metav1.ObjectMeta) *corev1.ObjectReference {
	if conversion.IsZero(reference) {
		return nil
	}
	apiVersion := schema.GroupVersion{Group: conversion.Value(reference.APIGroup), Version: "v1beta1"}
	return &corev1.ObjectReference{
		APIVersion: apiVersion.String(), Kind: conversion.Value(reference.Kind), Namespace: object.Namespace, Name: conversion.Value(reference.Name),
	}
}

func referenceToTemplate(reference *corev1.ObjectReference, _ *metav1.ObjectMeta) *v1beta2storage.ClusterClassTemplateReference {
	return &v1beta2storage.ClusterClassTemplateReference{
		Kind: conversion.NonZero(reference.Kind), Name: conversion.NonZero(reference.Name), APIVersion: conversion.NonZero(reference.APIVersion),
	}
}

func templateToReference(template *v1beta2storage.ClusterClassTemplateReference, object *metav1.ObjectMeta) *corev1.ObjectReference {
	if conversion.IsZero(template) {
		return nil
	}
	return &corev1.ObjectReference{
		Kind: conversion.Value(template.Kind), Namespace: object.Namespace, Name: conversion.Value(template.Name),
		APIVersion: conversion.Value(template.APIVersion),
	}
}

func referenceToRemediation(
	reference *corev1.ObjectReference, object *metav1.ObjectMeta,
) *v1beta2storage.MachineHealthCheckRemediationTemplateReference {
	return (*v1beta2storage.MachineHealthCheckRemediationTemplateReference)(referenceToTemplate(reference, object))
}

func remediationToReference(
	remediation *v1beta2storage.MachineHealthCheckRemediationTemplateReference, object *metav1.ObjectMeta,
) *corev1.ObjectReference {
	return templateToReference((*v1beta2storage.ClusterClassTemplateReference)(remediation), object)
}

func referenceToNode(reference *corev1.ObjectReference) *v1beta2storage.MachineNodeReference {
	return &v1beta2storage.MachineNodeReference{Name: conversion.NonZero(reference.Name)}
}

func nodeToReference(node *v1beta2storage.MachineNodeReference) *corev1.ObjectReference {
	if conversion.IsZero(node) {
		return nil
	}
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: conversion.Value(node.Name)}
}
