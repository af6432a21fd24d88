/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"

	v1storage "example.com/karpenter/v1/storage"
)

// formerReference is the annotation of objects at v1 in which former conversions kept the reference of v1beta1.
const formerReference = "compatibility.karpenter.sh/v1beta1-nodeclass-reference"

// olderReference and newerReference are the parts of references that differ.
type (
	olderReference struct {
		Kind       *string `json:"kind,omitempty"`
		APIVersion *string `json:"apiVersion,omitempty"`
	}
	newerReference struct {
		Kind  *string `json:"kind,omitempty"`
		Group *string `json:"group,omitempty"`
	}
)

// AssignPropertiesTo shows the group of the version.
func (in *NodeClassReference) AssignPropertiesTo(dst *v1storage.NodeClassReference, _ *metav1.ObjectMeta) error {
	older := olderReference{Kind: in.Kind, APIVersion: in.APIVersion}
	newer := older.up()
	dst.PropertyBag.TakeDerived(bagV1Group, older, &newer)
	dst.Kind, dst.Group = newer.Kind, newer.Group
	return keep(&dst.PropertyBag, bagV1beta1ApiVersion, older, newer, newer.down())
}

// AssignPropertiesFrom shows no version, as none is known, unless former conversions kept the reference at v1beta1, and no client changed it since then.
// These conversions added the kind and the group of the provider's class.
func (in *NodeClassReference) AssignPropertiesFrom(src *v1storage.NodeClassReference, object *metav1.ObjectMeta) error {
	newer := newerReference{Kind: src.Kind, Group: src.Group}
	older := newer.down()
	var former *NodeClassReference
	if json.Unmarshal([]byte(object.Annotations[formerReference]), &former) == nil && former != nil && former.becameBefore(src) {
		older = olderReference{Kind: former.Kind, APIVersion: former.APIVersion}
	}
	in.PropertyBag.TakeDerived(bagV1beta1ApiVersion, newer, &older)
	in.Kind, in.APIVersion = older.Kind, older.APIVersion
	return keep(&in.PropertyBag, bagV1Group, newer, older, older.up())
}

func (r olderReference) up() newerReference {
	newer := newerReference{Kind: conversion.Pointer(r.Kind)}
	if r.APIVersion != nil {
		group, _, _ := strings.Cut(*r.APIVersion, "/")
		newer.Group = &group
	}
	return newer
}

func (r newerReference) down() olderReference {
	return olderReference{Kind: conversion.Pointer(r.Kind)}
}

// becameBefore reports whether former conversions would make the reference at v1 of one at v1beta1.
func (in *NodeClassReference) becameBefore(newer *v1storage.NodeClassReference) bool {
	older := olderReference{Kind: in.Kind, APIVersion: in.APIVersion}.up()
	return conversion.Value(in.Name) == conversion.Value(newer.Name) &&
		(conversion.Value(older.Kind) == "" || *older.Kind == conversion.Value(newer.Kind)) &&
		(conversion.Value(older.Group) == "" || *older.Group == conversion.Value(newer.Group))
}

// keep puts a value into the bag unless what the other version shows leads back to it.
func keep(bag *conversion.PropertyBag, key string, value, shown, again any) error {
	if same, err := conversion.Equal(value, again); same || err != nil {
		return err
	}
	return bag.PutDerived(key, value, shown)
}
