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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/pkg/binding"
)

// Admit implements webhook.AdmissionController. It refuses nothing that it can decide on: what does not fit is let through as
// it is, for the API server has a schema to refuse it by, and the binding says in its status what it did not bind.
func (b *bindingAdmission) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	asItIs := &admissionv1.AdmissionResponse{Allowed: true}
	if !b.concerns(request) {
		return asItIs
	}
	// A replica that has just started does not know the bindings yet. What it let through would start without its address.
	if !cache.WaitForCacheSync(ctx.Done(), b.synced...) {
		return webhook.MakeErrorStatus("the bindings are not known yet; try again")
	}
	patch, err := b.patch(request)
	if err != nil {
		logging.FromContext(ctx).Infow("Letting an object through without its variables", "error", err)
		return asItIs
	}
	if len(patch) == 0 {
		return asItIs
	}
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: new(admissionv1.PatchTypeJSONPatch)}
}

// concerns is whether the object may be changed. The webhook configuration leaves most of the others out already.
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

// patch returns what the object lacks as JSON, nil if nothing. An error says why it cannot have it.
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
	result := binding.Of(kindOfRequest(request), all).Decide(object, included).Apply(object)
	if len(result.Changes) == 0 {
		return nil, nil
	}
	// The duck type shows a part of the object only. An answer that the API server cannot apply makes the whole request fail.
	if err := try(result.Patch(), request.Object.Raw); err != nil {
		return nil, fmt.Errorf("changing the variables of %s: %w", of, err)
	}
	patch, err := result.Changes.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("writing the patch of %s: %w", of, err)
	}
	return patch, nil
}

// shape is by the kind's definition, whose name is made of what the request names.
func (b *bindingAdmission) shape(request *admissionv1.AdmissionRequest) binding.Shape {
	resource := schema.GroupResource{Group: request.Resource.Group, Resource: request.Resource.Resource}
	definition, err := b.definitions.Get(resource.String())
	if err != nil {
		return binding.ShapeOf(kindOfRequest(request), nil)
	}
	return binding.ShapeOf(kindOfRequest(request), definition.Labels)
}

// changed is whether an update changes anything by which variables are chosen. One that does not is left as it is: what an
// object lacks then, the controller is about to give it, and a write to something else is no reason to start all Pods anew.
func changed(old, object binding.Object) bool {
	return !equality.Semantic.DeepEqual(old.GetLabels(), object.GetLabels()) ||
		!slices.EqualFunc(binding.Environments(old), binding.Environments(object), func(a, b binding.Environment) bool {
			return a.Container == b.Container && equality.Semantic.DeepEqual(a.Variables, b.Variables)
		})
}

// isIncluded is whether the object may be bound. The API server does not tell the labels of its namespace, but it has
// matched them, and asks if the namespace or the old or the new object opts in, and the namespace does not opt out. Only
// of an object that has just ceased to opt in this does not say whether its namespace does.
func isIncluded(old, object map[string]string) (included, known bool) {
	optedIn := func(labels map[string]string) bool { return labels[duck.BindingIncludeLabel] == "true" }
	switch {
	case binding.Excluded(object):
		return false, true
	case optedIn(old) && !optedIn(object):
		return false, false
	default:
		return true, true
	}
}

// try applies a patch as the API server does.
func try(patch duck.JSONPatch, object []byte) error {
	raw, err := patch.MarshalJSON()
	if err != nil {
		return fmt.Errorf("writing the patch: %w", err)
	}
	decoded, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		return fmt.Errorf("reading the patch: %w", err)
	}
	if _, err := decoded.Apply(object); err != nil {
		return fmt.Errorf("the patch does not apply: %w", err)
	}
	return nil
}
