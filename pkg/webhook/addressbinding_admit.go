/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// Admit implements webhook.AdmissionController. It rejects no object: one that cannot be read is admitted unchanged, because the API server
// validates its schema, and the binding reports it in its status.
func (b *bindingAdmission) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	asItIs := &admissionv1.AdmissionResponse{Allowed: true}
	if !b.concerns(request) {
		return asItIs
	}
	// A replica that has just started does not know the bindings yet. An object that it admits would start without its address.
	if !cache.WaitForCacheSync(ctx.Done(), b.synced...) {
		return webhook.MakeErrorStatus("the webhook has not finished loading AddressBindings; retry the request")
	}
	patch, err := b.patch(request)
	if err != nil {
		logging.FromContext(ctx).Warnw("Admitting subject without its environment variables", "error", err)
		return asItIs
	}
	if len(patch) == 0 {
		return asItIs
	}
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: new(admissionv1.PatchTypeJSONPatch)}
}

// concerns reports whether the object may be changed. The webhook configuration leaves most of the others out already.
func (b *bindingAdmission) concerns(request *admissionv1.AdmissionRequest) bool {
	switch {
	case request.SubResource != "", request.Operation != admissionv1.Create && request.Operation != admissionv1.Update:
		return false
	case request.Operation == admissionv1.Update && binding.Immutable(kindOfRequest(request)):
		return false
	default:
		// The controller's writes; see binding.FieldManager.
		var options struct {
			FieldManager string `json:"fieldManager"`
		}
		return json.Unmarshal(request.Options.Raw, &options) != nil || options.FieldManager != binding.FieldManager
	}
}

func kindOfRequest(request *admissionv1.AdmissionRequest) schema.GroupKind {
	return schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
}

// patch returns the JSON patch that gives the object its variables and the mark, nil if it has them.
func (b *bindingAdmission) patch(request *admissionv1.AdmissionRequest) ([]byte, error) {
	of := request.Kind.Kind + " " + request.Namespace + "/" + request.Name
	all, err := b.bindings.AddressBindings(request.Namespace).List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing the bindings of %s: %w", of, err)
	}
	if len(all) == 0 {
		return nil, nil
	}
	shape := b.shape(request)
	object, old := shape.New(), shape.New()
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return nil, fmt.Errorf("reading %s as a %T: %w", of, object, err)
	}
	if request.Operation == admissionv1.Update {
		// If the old one cannot be read, then all of it is new.
		if err := json.Unmarshal(request.OldObject.Raw, old); err == nil && !changed(old, object) {
			return nil, nil
		}
	}
	included, known := isIncluded(old.GetLabels(), object.GetLabels())
	if !known {
		return nil, nil
	}
	result := binding.Of(kindOfRequest(request), all).Apply(object, included, "")
	if len(result.Changes) == 0 {
		return nil, nil
	}
	// The duck type shows only a part of the object. A patch that the API server cannot apply makes the whole request fail.
	if err := try(result.Patch(), request.Object.Raw); err != nil {
		return nil, fmt.Errorf("changing the variables of %s: %w", of, err)
	}
	patch, err := result.Changes.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("writing the patch of %s: %w", of, err)
	}
	return patch, nil
}

// shape depends on the labels of the kind's CRD, if there is one.
func (b *bindingAdmission) shape(request *admissionv1.AdmissionRequest) binding.Shape {
	resource := schema.GroupResource{Group: request.Resource.Group, Resource: request.Resource.Resource}
	crd, err := b.crds.Get(resource.String())
	if err != nil {
		return binding.ShapeOf(kindOfRequest(request), nil)
	}
	return binding.ShapeOf(kindOfRequest(request), crd.Labels)
}

// changed reports whether an update changes anything by which variables are chosen. One that does not is admitted unchanged: the
// controller is about to make what difference there is, and an update of something else is no reason to restart all Pods.
func changed(old, object binding.Object) bool {
	return !equality.Semantic.DeepEqual(old.GetLabels(), object.GetLabels()) ||
		old.GetAnnotations()[samples.BoundVariablesAnnotationKey] != object.GetAnnotations()[samples.BoundVariablesAnnotationKey] ||
		!slices.EqualFunc(binding.Environments(old), binding.Environments(object), func(a, b binding.Environment) bool {
			return a.Container == b.Container && equality.Semantic.DeepEqual(a.Variables, b.Variables)
		})
}

// isIncluded reports whether an object opts in to bindings. The API server does not send the labels of the namespace, but has matched
// them: it calls the webhook if the namespace or the old or new object opts in, and the namespace does not opt out. Only for an
// object that has just ceased to opt in, this does not show whether its namespace does.
func isIncluded(old, object map[string]string) (included, known bool) {
	switch {
	case binding.Excluded(nil, object):
		return false, true
	case binding.Included(nil, old) && !binding.Included(nil, object):
		return false, false
	default:
		return true, true
	}
}

// try applies a patch as the API server does, and checks what it would reject: all annotations of an object together have a limit.
func try(patch duck.JSONPatch, object []byte) error {
	raw, err := patch.MarshalJSON()
	if err != nil {
		return fmt.Errorf("writing the patch: %w", err)
	}
	decoded, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return fmt.Errorf("reading the patch: %w", err)
	}
	patched, err := decoded.Apply(object)
	if err != nil {
		return fmt.Errorf("the patch does not apply: %w", err)
	}
	var result metav1.PartialObjectMetadata
	if err := json.Unmarshal(patched, &result); err != nil {
		return fmt.Errorf("reading the patched object: %w", err)
	}
	if err := validation.ValidateAnnotationsSize(result.Annotations); err != nil {
		return fmt.Errorf("there is no room for the mark: %w", err)
	}
	return nil
}
