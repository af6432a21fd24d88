/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
)

// Preserve keeps clients from changing the annotation, and is for SetDefaults. In an update the annotation of the live
// object stays whatever the client sent: one that sends a manifest without it does not lose what it cannot see, and one
// that sends an old copy does not bring back what has changed. In the hub version, where everything can be seen, an empty
// annotation removes it. Outside of updates, and in those of a subresource, nothing happens.
//
// The API server compares the generation before that, so an edit of the annotation that had an effect would change the
// spec of other versions without a new generation.
func (a Annotation) Preserve(ctx context.Context, object metav1.Object) {
	if IsConverting(ctx) || !apis.IsInUpdate(ctx) || apis.GetUpdatedSubresource(ctx) != "" {
		return
	}
	baseline, ok := apis.GetBaseline(ctx).(metav1.Object)
	if !ok {
		return
	}
	annotations := object.GetAnnotations()
	sent, isSent := annotations[a.Name]
	live, isLive := baseline.GetAnnotations()[a.Name]
	if a.Hub && isSent && sent == "" {
		isLive = false
	}
	switch {
	case isLive && annotations == nil:
		annotations = map[string]string{a.Name: live}
	case isLive:
		annotations[a.Name] = live
	case isSent:
		delete(annotations, a.Name)
	default:
		return
	}
	object.SetAnnotations(annotations)
}

// Validate is for the Validate of every version. It rejects writes through a representation that is marked with
// TruncatedLabel: the API server would store it without what the annotation should have held. The live object is looked at,
// too, since a client may leave the label out. It warns about a new object with an annotation: that is a copy of another
// object's representation.
func (a Annotation) Validate(ctx context.Context, object metav1.Object) *apis.FieldError {
	need := object.GetLabels()[a.TruncatedLabel()]
	if live, ok := apis.GetBaseline(ctx).(metav1.Object); ok && need == "" && !a.Hub {
		need = live.GetLabels()[a.TruncatedLabel()]
	}
	if need != "" {
		return a.fieldError("this version cannot represent the object without losing data",
			fmt.Sprintf("the properties of other versions need %s bytes, %s; write the object at the stored version", need, limits))
	}
	if apis.IsInCreate(ctx) && object.GetAnnotations()[a.Name] != "" {
		return a.fieldError("the annotation sets properties of other versions",
			"it belongs to the object that this manifest was copied from; leave it out to begin without them").At(apis.WarningLevel)
	}
	return nil
}

// ValidateRepresentation is for the Validate of the hub version, which has to convert the object to every served version and
// call this for each representation. It rejects an object whose representation is truncated, and warns from a quarter of
// the limit on.
func (a Annotation) ValidateRepresentation(version string, representation metav1.Object) *apis.FieldError {
	if need := representation.GetLabels()[a.TruncatedLabel()]; need != "" {
		return a.fieldError(version+" cannot represent the object without losing data",
			fmt.Sprintf("the properties of other versions need %s bytes, %s; make the object or its annotations smaller", need, limits))
	}
	if need := len(representation.GetAnnotations()[a.Name]); need > SoftLimit {
		return a.fieldError(fmt.Sprintf("%s needs %d bytes for the properties of other versions", version, need),
			limits+"; an object that needs more is rejected").At(apis.WarningLevel)
	}
	return nil
}

// limits says how much room there is.
var limits = fmt.Sprintf("at most %d bytes and %d properties fit into this annotation, and %d bytes into all annotations together",
	HardLimit, MaxEntries, validation.TotalAnnotationSizeLimitB)

func (a Annotation) fieldError(message, details string) *apis.FieldError {
	return &apis.FieldError{Message: message, Paths: []string{"metadata.annotations"}, Details: a.Name + ": " + details}
}
