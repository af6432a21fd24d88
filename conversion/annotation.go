/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotation is the key of the annotation that holds the bags of an API object, as canonical JSON. Generated code has one variable of this type for
// each API package.
type Annotation struct {
	// Name of the annotation, such as "conversion.samples.knative.dev/properties".
	Name string
	// Hub reports whether the package is that of the hub version. There an empty annotation means to forget what is stashed.
	Hub bool
	// Retired are versions that no longer exist. Their entries are dropped.
	Retired []string
	// Former are annotations in which former conversions kept values. Hooks and functions with the metadata of the object read them. Converted
	// objects do not have them, so that a value which a client changes does not return.
	Former []string
}

// Load begins the conversion of an API object to its storage type. It copies the metadata without the annotation and
// without the label of TruncatedLabel, and returns the content of the annotation. Load drops and counts an annotation that
// is malformed or beyond a limit, so that the object and its whole kind can still be read, listed and deleted.
func (a Annotation) Load(dst, src *metav1.ObjectMeta) Reader {
	src.DeepCopyInto(dst)
	text := src.Annotations[a.Name]
	a.removeFrom(dst)
	if text == "" {
		return Reader{}
	}
	root := parse(text)
	if root == nil {
		countDropped(partAnnotation)
		return Reader{}
	}
	root.walk(0, func(n *node, _ int) {
		maps.DeleteFunc(n.Entries, func(key string, _ Entry) bool { return isRetired(key, a.Retired) })
	})
	return Reader{root}
}

// Store ends the conversion of a storage object to its API type. It copies the metadata and adds the annotation, unless
// there is nothing to stash. If the annotation would exceed a limit of this package, or the API server's limit for all
// annotations of an object together, Store leaves it out, counts that, and sets the label of TruncatedLabel instead: the API
// server rejects a converted object that exceeds its limit, and with it every list of the kind.
func (a Annotation) Store(dst, src *metav1.ObjectMeta, stash Writer) {
	src.DeepCopyInto(dst)
	a.removeFrom(dst)
	for _, name := range a.Former {
		dst.Annotations = without(dst.Annotations, name)
	}
	if stash.node == nil || !stash.node.settle() {
		return
	}
	text, fits := stash.node.encode()
	metav1.SetMetaDataAnnotation(dst, a.Name, text)
	if fits && validation.ValidateAnnotationsSize(dst.Annotations) == nil {
		if len(text) > SoftLimit {
			count(large)
		}
		return
	}
	a.removeFrom(dst)
	metav1.SetMetaDataLabel(dst, a.TruncatedLabel(), strconv.Itoa(len(text)))
	count(truncated)
}

// TruncatedLabel returns the key of the label that marks a representation whose annotation was left out. Its value is the
// number of bytes that the annotation would have had. It is a label because the API server does not limit labels in total.
func (a Annotation) TruncatedLabel() string { return a.Name + "-truncated" }

// removeFrom removes the annotation and the label, and sets a map to nil that is empty without them.
func (a Annotation) removeFrom(object *metav1.ObjectMeta) {
	object.Annotations = without(object.Annotations, a.Name)
	object.Labels = without(object.Labels, a.TruncatedLabel())
}

func without(texts map[string]string, key string) map[string]string {
	if _, ok := texts[key]; ok {
		delete(texts, key)
		if len(texts) == 0 {
			return nil
		}
	}
	return texts
}

// Limits of an annotation. An annotation that exceeds one is never written, and is dropped when it is read. The API server
// allows 256 KiB for all annotations of an object together; Annotation.Store respects that limit, too.
const (
	// SoftLimit is the size in bytes from which on Annotation.Validate warns.
	SoftLimit = 16 << 10
	// HardLimit is the size in bytes that an annotation may have.
	HardLimit = 64 << 10
	// MaxNesting is the maximum depth of structs, lists and maps in an object, and separately of the data of one entry.
	MaxNesting = 32
	// MaxEntries is the maximum number of entries in all bags of an object together.
	MaxEntries = 1024
)

// format is that of the annotations that this release writes. A later one is carried as it is.
const format = 1

// foreignKey is the key, in the bag of the root, of an annotation in a later format. Keys of properties begin with a version.
const foreignKey = "/format"
