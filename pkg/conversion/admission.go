/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"context"
	"fmt"

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

// Validate is for the Validate of every version. It refuses to write an object through a view that does not hold
// everything, which would lose the rest, and warns about a new object that brings an annotation along: it is a copy of
// another one's view.
func (a Annotation) Validate(ctx context.Context, object metav1.Object) *apis.FieldError {
	text := object.GetAnnotations()[a.Name]
	if text == "" {
		return nil
	}
	if need := cutOff(text); need > 0 {
		return a.fieldError("this version cannot show the object without losing properties of others",
			fmt.Sprintf("it would need %d bytes, at most %d are possible; use the version that the object was written at",
				need, HardLimit))
	}
	if apis.IsInCreate(ctx) {
		return a.fieldError("the annotation sets properties of other versions",
			"it belongs to the object that this manifest was copied from; leave it out to begin without them").At(apis.WarningLevel)
	}
	return nil
}

// ValidateView is for the Validate of the hub version, which has to convert the object to every served version and ask
// this for each view. It refuses an object that could not be shown at that version, and warns at a quarter of the limit.
func (a Annotation) ValidateView(version string, view metav1.Object) *apis.FieldError {
	text := view.GetAnnotations()[a.Name]
	if need := cutOff(text); need > 0 {
		return a.fieldError(fmt.Sprintf("the %s view would need %d bytes (limit %d)", version, need, HardLimit),
			version+" cannot show the object without losing properties; make it smaller")
	}
	if len(text) > SoftLimit {
		return a.fieldError(fmt.Sprintf("the %s view needs %d bytes (limit %d)", version, len(text), HardLimit),
			"beyond the limit the object is refused").At(apis.WarningLevel)
	}
	return nil
}

// cutOff is how many bytes an annotation would have needed, if these were too many.
func cutOff(annotation string) int {
	_, need, err := parseRoot(annotation)
	if err != nil {
		return 0
	}
	return need
}

func (a Annotation) fieldError(message, details string) *apis.FieldError {
	return &apis.FieldError{Message: message, Paths: []string{"metadata.annotations"}, Details: a.Name + ": " + details}
}
