/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"encoding/json"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/webhook"
)

// semantics is the folder of the packages defaulting and validation, which this package must not import: they register informers.
const semantics = "knative.dev/pkg/webhook/resourcesemantics/"

// newObject returns an empty object of the type that a controller of package defaulting or validation has for the kind of a request, or nil.
func newObject(controller webhook.AdmissionController, request *admissionv1.AdmissionRequest) any {
	value := reflect.Indirect(reflect.ValueOf(controller))
	if value.Kind() != reflect.Struct || !strings.HasPrefix(value.Type().PkgPath(), semantics) {
		return nil
	}
	handlers := value.FieldByName("handlers")
	if handlers.Kind() != reflect.Map || handlers.Type().Key() != reflect.TypeFor[schema.GroupVersionKind]() {
		return nil
	}
	handler := handlers.MapIndex(reflect.ValueOf(schema.GroupVersionKind(request.Kind)))
	if handler.Kind() != reflect.Interface || handler.Elem().Kind() != reflect.Pointer {
		return nil
	}
	return reflect.New(handler.Elem().Type().Elem()).Interface()
}

// withReadable returns a request whose old object can be decoded. Upstream rejects the update that repairs a stored object.
func withReadable(controller webhook.AdmissionController, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionRequest {
	old := newObject(controller, request)
	if old == nil || len(request.OldObject.Raw) == 0 || json.Unmarshal(request.OldObject.Raw, old) == nil {
		return request
	}
	readable := *request
	if raw, err := json.Marshal(old); err == nil {
		readable.OldObject.Raw = raw
	}
	return &readable
}

// withFields returns a response of package defaulting that patches only what SetDefaults changes. Upstream patches the object to the form that its Go
// type has in JSON, which removes the fields of later releases and writes zero values, and rejects one that does not fit the type
// with a message about Go. Here the schema rejects it, which names the field and the type; package validation rejects what a schema admits.
func withFields(controller webhook.AdmissionController, request *admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) *admissionv1.AdmissionResponse {
	object, raw := newObject(controller, request), request.Object.Raw
	if object == nil || !strings.HasSuffix(reflect.Indirect(reflect.ValueOf(controller)).Type().PkgPath(), "/defaulting") {
		return response
	}
	if err := json.Unmarshal(raw, object); err != nil {
		return &admissionv1.AdmissionResponse{Allowed: true}
	}
	if !response.Allowed || len(response.Patch) == 0 {
		return response
	}
	patch, err := reduced(raw, object, response.Patch)
	if err != nil {
		return response
	}
	kept := *response
	if kept.Patch = patch; len(patch) == 0 {
		kept.PatchType = nil
	}
	return &kept
}

// reduced returns the part of a patch of raw that is not due to its decoding to object and encoding again. Parents of a changed field may be missing in
// raw, so a merge patch is made of it first.
func reduced(raw []byte, object any, patch []byte) ([]byte, error) {
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err //nolint:wrapcheck // ignored
	}
	patched, err := decoded.Apply(raw)
	if err != nil {
		return nil, err //nolint:wrapcheck // ignored
	}
	changes, err := duck.CreateMergePatch(object, json.RawMessage(patched))
	if err != nil || string(changes) == "{}" {
		return nil, err //nolint:wrapcheck // ignored
	}
	merged, err := jsonpatch.MergePatch(raw, changes)
	if err != nil {
		return nil, err //nolint:wrapcheck // ignored
	}
	return duck.CreateBytePatch(json.RawMessage(raw), json.RawMessage(merged)) //nolint:wrapcheck // ignored
}
