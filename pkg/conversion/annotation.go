/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotation is where the bags of an object are kept while it is outside, as the API object that clients see: in one
// annotation, as canonical JSON. Generated code has one variable of this type for each API package.
type Annotation struct {
	// Name of the annotation, such as "conversion.samples.knative.dev/properties".
	Name string
	// Hub is whether the package is that of the hub version. There an empty annotation means to forget what is stashed.
	Hub bool
	// Retired are versions that no longer exist. What is stashed for them is dropped.
	Retired []string
}

// Load begins to turn an API object into its storage type. It copies the metadata without the annotation, and returns what
// the annotation holds. One that is malformed or beyond a limit is dropped and counted: that must not keep anybody from
// reading or deleting the object, nor from listing others.
func (a Annotation) Load(dst, src *metav1.ObjectMeta) Reader {
	src.DeepCopyInto(dst)
	text, ok := src.Annotations[a.Name]
	if !ok {
		return Reader{}
	}
	a.removeFrom(dst)
	if text == "" {
		return Reader{}
	}
	tree, err := parse(text)
	switch {
	case errors.Is(err, errLaterFormat):
		tree = carried(text)
	case err != nil:
		countDropped(whatAnnotation)
		return Reader{}
	}
	tree.retired = a.Retired
	return Reader{tree: tree}
}

// Store ends turning a storage object into its API type. It copies the metadata and adds the annotation, unless there is
// nothing to stash. What would exceed a limit is not stashed and counted; the annotation says so then (see Validate).
func (a Annotation) Store(dst, src *metav1.ObjectMeta, stash Writer) {
	src.DeepCopyInto(dst)
	a.removeFrom(dst)
	if stash.tree == nil {
		return
	}
	text := stash.tree.encode()
	if text == "" {
		return
	}
	if dst.Annotations == nil {
		dst.Annotations = make(map[string]string, 1)
	}
	dst.Annotations[a.Name] = text
}

// removeFrom takes the annotation away, and with the last annotation the map, as if it had never been there.
func (a Annotation) removeFrom(object *metav1.ObjectMeta) {
	if _, ok := object.Annotations[a.Name]; !ok {
		return
	}
	delete(object.Annotations, a.Name)
	if len(object.Annotations) == 0 {
		object.Annotations = nil
	}
}

// carried is what an annotation in a later format is kept in until it is written again.
func carried(annotation string) *tree {
	entry := Entry{data: string(appendQuoted(nil, annotation))}
	return &tree{nodes: []node{{entries: span{to: 1}}}, entries: []property{{key: foreignKey, entry: entry}}}
}
