/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Finding is a problem with an object that its client has to know of.
type Finding struct {
	// Field is the path of the field, such as metadata.annotations.
	Field string
	// Message states the problem, Details its cause and the remedy.
	Message, Details string
	// Warning reports whether the object is admitted all the same.
	Warning bool
}

// Preserve keeps clients from changing the annotation, and is for defaulting webhooks. After it the object of an update has the
// annotation of the live object, whatever the client sent: a manifest without the annotation removes nothing that the client cannot
// see, and one with an old copy does not restore what has changed. In the hub version, where everything can be seen, an empty
// annotation removes it. A live object that is nil, as in a create, changes nothing; nor is Preserve for updates of a subresource.
//
// The API server compares the generation before that, so an edit of the annotation that had an effect would change the
// spec of other versions without a new generation.
func (a Annotation) Preserve(object, live metav1.Object) {
	if live == nil {
		return
	}
	annotations := object.GetAnnotations()
	sent, isSent := annotations[a.Name]
	kept, isKept := live.GetAnnotations()[a.Name]
	if a.Hub && isSent && sent == "" {
		isKept = false
	}
	switch {
	case isKept && annotations == nil:
		annotations = map[string]string{a.Name: kept}
	case isKept:
		annotations[a.Name] = kept
	case isSent:
		delete(annotations, a.Name)
	default:
		return
	}
	object.SetAnnotations(annotations)
}

// Validate is for validating webhooks of every version. It rejects writes through a representation that is marked with
// TruncatedLabel: the API server would store it without what the annotation should have held. The live object counts, too, since a
// client may leave the label out. Validate warns about a new object, which has no live one, with an annotation: that is a copy of
// another object's representation.
func (a Annotation) Validate(object, live metav1.Object) []Finding {
	need := object.GetLabels()[a.TruncatedLabel()]
	if live != nil && need == "" && !a.Hub {
		need = live.GetLabels()[a.TruncatedLabel()]
	}
	if need != "" {
		return a.finding("this version cannot represent the object without losing data",
			fmt.Sprintf("the properties of other versions need %s bytes, %s; write the object at the stored version", need, limits), false)
	}
	if live == nil && object.GetAnnotations()[a.Name] != "" {
		return a.finding("the annotation sets properties of other versions",
			"it belongs to the object that this manifest was copied from; leave it out to begin without them", true)
	}
	return nil
}

// ValidateRepresentation is for validating webhooks of the hub version, which have to convert the object to every served version and
// call this for each representation. It rejects an object whose representation is truncated, and warns from a quarter of
// the limit on.
func (a Annotation) ValidateRepresentation(version string, representation metav1.Object) []Finding {
	if need := representation.GetLabels()[a.TruncatedLabel()]; need != "" {
		return a.finding(version+" cannot represent the object without losing data",
			fmt.Sprintf("the properties of other versions need %s bytes, %s; make the object or its annotations smaller, or nest its values less deep",
				need, limits), false)
	}
	if need := len(representation.GetAnnotations()[a.Name]); need > SoftLimit {
		return a.finding(fmt.Sprintf("%s needs %d bytes for the properties of other versions", version, need),
			limits+"; an object that needs more is rejected", true)
	}
	return nil
}

// limits holds the maximum sizes.
var limits = fmt.Sprintf("at most %d bytes and %d properties fit into this annotation, nested at most %d levels deep, and %d bytes into all annotations "+
	"together", HardLimit, MaxEntries, MaxNesting, validation.TotalAnnotationSizeLimitB)

func (a Annotation) finding(message, details string, warning bool) []Finding {
	return []Finding{{Field: "metadata.annotations", Message: message, Details: a.Name + ": " + details, Warning: warning}}
}
