/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/mallard-dev/mallard/conversion/controllerruntime"
)

func annotated(text string) *spoke {
	return &spoke{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{annotation: text, "other": "x"}}}
}

func defaulted(t *testing.T, defaulter admission.Defaulter[*spoke], request admission.Request) admission.Response {
	t.Helper()
	return admission.WithDefaulter(newScheme(), defaulter).Handle(t.Context(), request)
}

func TestDefaulter_Update_KeepsTheLiveAnnotation(t *testing.T) {
	const path = "/metadata/annotations/conversion.example.com~1properties"
	without := annotated("")
	delete(without.Annotations, annotation)
	for name, test := range map[string]struct {
		sent, live *spoke
		want       []jsonpatch.JsonPatchOperation
	}{
		"edited":    {annotated("sent"), annotated("live"), []jsonpatch.JsonPatchOperation{{Operation: "replace", Path: path, Value: "live"}}},
		"left out":  {without, annotated("live"), []jsonpatch.JsonPatchOperation{{Operation: "add", Path: path, Value: "live"}}},
		"brought":   {annotated("sent"), without, []jsonpatch.JsonPatchOperation{{Operation: "remove", Path: path}}},
		"unchanged": {annotated("live"), annotated("live"), nil},
	} {
		response := defaulted(t, &controllerruntime.Defaulter[*spoke]{}, request(t, test.sent, test.live))
		if !response.Allowed {
			t.Errorf("%s: rejected: %s", name, response.Result.Message)
		}
		if diff := cmp.Diff(test.want, response.Patches); diff != "" {
			t.Errorf("%s: patches (-want +got):\n%s", name, diff)
		}
	}
}

func TestDefaulter_CreateOrSubresource_AnnotationIsLeftAlone(t *testing.T) {
	status := request(t, annotated("sent"), annotated("live"))
	status.SubResource = "status"
	for name, request := range map[string]admission.Request{"create": request(t, annotated("sent"), nil), "status": status} {
		if response := defaulted(t, &controllerruntime.Defaulter[*spoke]{}, request); !response.Allowed || len(response.Patches) > 0 {
			t.Errorf("%s: allowed %v with the patches %v", name, response.Allowed, response.Patches)
		}
	}
}

// next is a Defaulter that sets a label, or fails.
type next struct{ err error }

func (n next) Default(_ context.Context, object *spoke) error {
	object.Labels = map[string]string{"seen": object.Annotations[annotation]}
	return n.err
}

func TestDefaulter_Next_SeesTheLiveAnnotation(t *testing.T) {
	response := defaulted(t, &controllerruntime.Defaulter[*spoke]{Next: next{}}, request(t, annotated("sent"), annotated("live")))
	want := jsonpatch.JsonPatchOperation{Operation: "add", Path: "/metadata/labels", Value: map[string]any{"seen": "live"}}
	found := false
	for _, patch := range response.Patches {
		found = found || cmp.Equal(want, patch)
	}
	if !found {
		t.Errorf("patches are %v, want %v", response.Patches, want)
	}
	failed := defaulted(t, &controllerruntime.Defaulter[*spoke]{Next: next{errors.New("no default")}}, request(t, annotated("sent"), nil))
	expectRejected(t, failed, metav1.StatusReasonForbidden, "no default")
}

// The API server does that by matchPolicy: Equivalent, the default.
func TestDefaulter_ObjectConvertedForTheWebhook_IsRejected(t *testing.T) {
	converted := request(t, annotated("sent"), annotated("live"))
	converted.RequestKind.Version = "v1"
	response := defaulted(t, &controllerruntime.Defaulter[*spoke]{}, converted)
	expectRejected(t, response, metav1.StatusReasonForbidden, "webhook of version v1beta1", "sent at version v1", "matchPolicy: Exact")
}

func TestDefaulter_LiveObjectIsMalformed_IsRejected(t *testing.T) {
	malformed := request(t, annotated("sent"), annotated("live"))
	malformed.OldObject.Raw = []byte(`{"metadata":[]}`)
	expectRejected(t, defaulted(t, &controllerruntime.Defaulter[*spoke]{}, malformed), metav1.StatusReasonForbidden, "reading the metadata of the live object")
}

func TestDefaulter_OutsideOfAWebhook_Fails(t *testing.T) {
	if err := (&controllerruntime.Defaulter[*spoke]{}).Default(t.Context(), annotated("sent")); err == nil {
		t.Error("no error, although the context has no request")
	}
}
