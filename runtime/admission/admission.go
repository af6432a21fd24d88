/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"encoding/json"
	"fmt"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/webhook"
)

// NewObject makes an empty object of a kind at a version. It returns nil if that is not served.
type NewObject func(schema.GroupVersionKind) any

// Default has a controller of knative.dev/pkg for defaulting answer requests by the objects' SetDefaults. withContext makes the context of each
// request, which may hold configuration; nil leaves it as it is.
func Default(impl *controller.Impl, newObject NewObject, withContext func(context.Context) context.Context) *controller.Impl {
	return answer(impl, &admission{webhookType: webhook.WebhookTypeDefaulting, newObject: newObject, withContext: withContext, decide: setDefaults})
}

// Validate has a controller of knative.dev/pkg for validation answer requests by the objects' Validate. See Default for withContext.
func Validate(impl *controller.Impl, newObject NewObject, withContext func(context.Context) context.Context) *controller.Impl {
	return answer(impl, &admission{webhookType: webhook.WebhookTypeValidation, newObject: newObject, withContext: withContext, decide: validate})
}

// admission answers admission requests, in place of knative.dev/pkg's controllers for defaulting and validation. Those
// still keep rules and CA in the webhook configurations, but their Admit
//   - rejects an object that does not fit the Go type, with a message about Go, before the schema can name the expected type;
//   - rejects every update of an object whose status has a field of a later release;
//   - patches the object to the form that its Go type has in JSON, which writes zero values and removes unknown fields.
type admission struct {
	upstream
	webhookType string
	newObject   NewObject
	withContext func(context.Context) context.Context
	// decide answers a request for an object, which raw is in JSON.
	decide func(ctx context.Context, object any, raw []byte) (*admissionv1.AdmissionResponse, error)
}

// upstream is implemented by the reconcilers of knative.dev/pkg for defaulting and validation.
type upstream interface {
	controller.Reconciler
	reconciler.LeaderAware
	webhook.AdmissionController
}

func answer(impl *controller.Impl, a *admission) *controller.Impl {
	a.upstream = impl.Reconciler.(upstream) //nolint:forcetypeassert // at the start
	impl.Reconciler = a
	return impl
}

// Admit implements webhook.AdmissionController.
func (a *admission) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	labeler, _ := otelhttp.LabelerFromContext(ctx)
	labeler.Add(webhook.WebhookTypeAttr.With(a.webhookType))
	gvk := schema.GroupVersionKind(request.Kind)
	object, baseline := a.newObject(gvk), a.newObject(gvk)
	if object == nil {
		return webhook.MakeErrorStatus("%s of version %s is not served by this webhook", request.Kind.Kind, request.Kind.Version)
	}
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return allowed()
	}
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		if a.webhookType == webhook.WebhookTypeDefaulting {
			// The schema rejects the object, and names the field and the expected type.
			return allowed()
		}
		// No client could read a list that contains it.
		return webhook.MakeErrorStatus("decoding the object failed: %v", err)
	}
	if a.withContext != nil {
		ctx = a.withContext(ctx)
	}
	ctx = apis.WithUserInfo(ctx, &request.UserInfo)
	if request.DryRun != nil && *request.DryRun {
		ctx = apis.WithDryRun(ctx)
	}
	// A stored object that cannot be decoded can be repaired, so it counts as far as it can be.
	_ = json.Unmarshal(request.OldObject.Raw, baseline)
	switch {
	case request.Operation == admissionv1.Create:
		ctx = apis.WithinCreate(ctx)
	case request.SubResource == "":
		ctx = apis.WithinUpdate(ctx, baseline)
	default:
		ctx = apis.WithinSubResourceUpdate(ctx, baseline, request.SubResource)
	}
	response, err := a.decide(ctx, object, request.Object.Raw)
	if err != nil {
		return webhook.MakeErrorStatus("%s failed: %v", a.webhookType, err)
	}
	return response
}

func allowed() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

// setDefaults patches exactly the fields that SetDefaults changes.
func setDefaults(ctx context.Context, object any, raw []byte) (*admissionv1.AdmissionResponse, error) {
	defaultable, ok := object.(apis.Defaultable)
	if !ok {
		return allowed(), nil
	}
	before, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding the object: %w", err)
	}
	defaultable.SetDefaults(ctx)
	changes, err := duck.CreateMergePatch(json.RawMessage(before), object)
	if err != nil {
		return nil, fmt.Errorf("comparing the object with its defaults: %w", err)
	}
	if string(changes) == "{}" {
		return allowed(), nil
	}
	// The parents of a changed field may be missing in the request, so the paths of a JSON patch depend on it.
	merged, err := jsonpatch.MergePatch(raw, changes)
	if err != nil {
		return nil, fmt.Errorf("applying the defaults: %w", err)
	}
	patch, err := duck.CreateBytePatch(json.RawMessage(raw), json.RawMessage(merged))
	if err != nil {
		return nil, fmt.Errorf("comparing the request with the defaults: %w", err)
	}
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: new(admissionv1.PatchTypeJSONPatch)}, nil
}

// validate rejects an object for the errors of its Validate, and passes its warnings on.
func validate(ctx context.Context, object any, _ []byte) (*admissionv1.AdmissionResponse, error) {
	validatable, ok := object.(apis.Validatable)
	if !ok {
		return allowed(), nil
	}
	result := validatable.Validate(ctx)
	response := allowed()
	if errs := result.Filter(apis.ErrorLevel); errs != nil {
		logging.FromContext(ctx).Infow("Rejected an object", "error", errs)
		response = webhook.MakeErrorStatus("validation failed: %v", errs)
	}
	for _, warning := range result.Filter(apis.WarningLevel).WrappedErrors() {
		response.Warnings = append(response.Warnings, warning.Error())
	}
	return response, nil
}
