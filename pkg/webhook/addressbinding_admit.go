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

	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// Admit implements webhook.AdmissionController. Package webhook calls it once the caches are filled. It rejects no object: one that cannot be read is
// admitted unchanged, because the API server validates its schema, and the binding reports it in its status.
func (b *bindingAdmission) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{Allowed: true}
	patch, err := b.patch(request)
	switch {
	case err != nil:
		logging.FromContext(ctx).Warnw("Admitting subject without its environment variables", "error",
			fmt.Errorf("%s %s/%s: %w", request.Kind.Kind, request.Namespace, request.Name, err))
	case len(patch) > 0:
		response.Patch, response.PatchType = patch, new(admissionv1.PatchTypeJSONPatch)
	}
	return response
}

// patch returns the JSON patch that gives the object its variables and the mark, nil if it has them. The webhook configuration leaves subresources and
// the controller's own writes out.
func (b *bindingAdmission) patch(request *admissionv1.AdmissionRequest) ([]byte, error) {
	kind := schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
	all, err := b.bindings.AddressBindings(request.Namespace).List(labels.Everything())
	if err != nil || len(all) == 0 || request.Operation == admissionv1.Update && binding.Immutable(kind) {
		return nil, err
	}
	var crdLabels map[string]string
	if crd, err := b.crds.Get(request.Resource.Resource + "." + request.Resource.Group); err == nil {
		crdLabels = crd.Labels
	}
	shape := binding.ShapeOf(kind, crdLabels)
	object, old := shape.New(), shape.New()
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return nil, fmt.Errorf("reading it as a %T: %w", object, err)
	}
	if request.Operation == admissionv1.Update {
		// If the old one cannot be read, then all of it is new.
		if err := json.Unmarshal(request.OldObject.Raw, old); err == nil && !changed(old, object) {
			return nil, nil
		}
	}
	// The API server does not send the labels of the namespace, but has matched them: it calls the webhook if the namespace or the old or new object
	// opts in, and the namespace does not opt out. Only for an object that has just ceased to opt in, this does not show whether its namespace does.
	included := !binding.Excluded(nil, object.GetLabels())
	if included && binding.Included(nil, old.GetLabels()) && !binding.Included(nil, object.GetLabels()) {
		return nil, nil
	}
	result := binding.Of(kind, all).Apply(object, included, "")
	if len(result.Changes) == 0 {
		return nil, nil
	}
	patch, err := result.Changes.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding the patch: %w", err)
	}
	return patch, try(patch, request.Object.Raw)
}

// try applies a patch as the API server does. The duck type shows only a part of the object, and a patch that cannot be applied makes the whole request
// fail, as do more annotations than an object may have.
func try(patch, object []byte) error {
	var result metav1.PartialObjectMetadata
	decoded, err := jsonpatch.DecodePatch(patch)
	if err == nil {
		object, err = decoded.Apply(object)
	}
	if err == nil {
		err = json.Unmarshal(object, &result)
	}
	if err != nil {
		return fmt.Errorf("the patch does not apply: %w", err)
	}
	if err := validation.ValidateAnnotationsSize(result.Annotations); err != nil {
		return fmt.Errorf("there is no room for the mark: %w", err)
	}
	return nil
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
