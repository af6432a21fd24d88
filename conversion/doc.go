/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package conversion keeps what an API version has no field for while an object is shown at that version, so that
// nothing is lost whichever way it is read and written. Generated code calls it; hand-written augmentations use
// PropertyBag.
//
// An object goes from one API version to another through storage types, which exist in memory only:
//
//	v1alpha1 ─ v1alpha1/storage ─ v1beta1/storage ─ v1/storage ─ v1
//
// Next to each other stand an API type and its storage type, of the same shape, and the storage types of consecutive
// versions, where properties come and go. What goes is stashed in the PropertyBag of the storage struct, what comes is
// taken from it, and what is left in the bags at the end becomes an annotation of the API object. The annotation is necessary: a conversion webhook
// has no memory, so everything that the hub needs later must be in the object that the client received.
//
// At the API edge, Annotation.Load and Annotation.Store convert the metadata, and a Reader or a Writer descends into the object together with the
// code that copies it:
//
//	from := properties.Load(&dst.ObjectMeta, &in.ObjectMeta)
//	in.Spec.toStorage(&dst.Spec, from.Field("spec"))
//
// The annotation is a tree of the object's form, in which a node has its children by field, map key or element of a list
// ("c"), the bag of the struct ("e"), and fields that were absent or zero where the API type does not distinguish them ("n", "z"). The
// root names the format ("f").
//
// A conversion always succeeds: an object that cannot be converted cannot be listed either, nor can any other of its
// kind, nor be deleted. So a malformed annotation is dropped and counted, one that is too large is left out, counted, and
// marked with a label, and one of a later release is carried along untouched. Annotation.Validate reports these to clients,
// and rejects writes through a marked representation.
//
// The package depends on k8s.io/apimachinery alone. Packages conversion/knative and conversion/controllerruntime call it from webhooks.
package conversion
