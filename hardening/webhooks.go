/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"
)

// admission is an AdmissionController whose panics reject the request with a message, instead of ending the connection. See also withFields.
type admission struct {
	webhook.AdmissionController

	process *process
}

// Admit implements webhook.AdmissionController.
func (a admission) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) (response *admissionv1.AdmissionResponse) {
	defer a.process.contain(func(cause any) {
		logging.FromContext(ctx).Errorw("A webhook panicked", zap.Any("panic", cause), zap.Stack("stack"))
		status := apierrors.NewInternalError(fmt.Errorf("panic in the webhook %s", a.Path())).Status()
		response = &admissionv1.AdmissionResponse{Result: &status}
	})
	defer a.process.connections.hold(ctx)
	if a.process.off[fields] {
		return a.AdmissionController.Admit(ctx, request)
	}
	return a.withFields(request, a.AdmissionController.Admit(ctx, a.withReadable(request)))
}

// conversion is a ConversionController whose panics fail the request with a message.
type conversion struct {
	webhook.ConversionController

	process *process
}

// Convert implements webhook.ConversionController.
func (c conversion) Convert(ctx context.Context, request *apiextensionsv1.ConversionRequest) (response *apiextensionsv1.ConversionResponse) {
	defer c.process.contain(func(cause any) {
		logging.FromContext(ctx).Errorw("A conversion panicked", zap.Any("panic", cause), zap.Stack("stack"))
		response = &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{
			Status: metav1.StatusFailure, Message: "panic in the webhook " + c.Path(),
		}}
	})
	defer c.process.connections.hold(ctx)
	return c.ConversionController.Convert(ctx, request)
}

// semantics is the folder of the packages defaulting and validation, which this package must not import: they register informers.
const semantics = "knative.dev/pkg/webhook/resourcesemantics/"

// newObject returns an empty object of the type that a controller of package defaulting or validation has for the kind of a request, or nil.
func (a admission) newObject(request *admissionv1.AdmissionRequest) any {
	value := reflect.Indirect(reflect.ValueOf(a.AdmissionController))
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
func (a admission) withReadable(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionRequest {
	old := a.newObject(request)
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
// with a message about Go. Here the schema rejects it, which names the field and the type; package validation rejects values that a schema admits.
func (a admission) withFields(request *admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) *admissionv1.AdmissionResponse {
	object, raw := a.newObject(request), request.Object.Raw
	if object == nil || !strings.HasSuffix(reflect.Indirect(reflect.ValueOf(a.AdmissionController)).Type().PkgPath(), "/defaulting") {
		return response
	}
	if err := json.Unmarshal(raw, object); err != nil {
		return &admissionv1.AdmissionResponse{Allowed: true}
	}
	patch, err := reduced(raw, object, response.Patch)
	if err != nil { // also for a response without a patch, such as a rejection
		return response
	}
	if response.Patch = patch; len(patch) == 0 {
		response.PatchType = nil
	}
	return response
}

// reduced returns the part of a patch of raw that is not due to its decoding to object and encoding again. Parents of a changed field may be missing in
// raw, so a merge patch is made of it first.
func reduced(raw []byte, object any, patch []byte) ([]byte, error) {
	decoded, decodeErr := jsonpatch.DecodePatch(patch)
	patched, applyErr := decoded.Apply(raw)
	changes, err := duck.CreateMergePatch(object, json.RawMessage(patched))
	if err = errors.Join(decodeErr, applyErr, err); err != nil || string(changes) == "{}" {
		return nil, err
	}
	merged, err := jsonpatch.MergePatch(raw, changes)
	if err != nil {
		return nil, err //nolint:wrapcheck // ignored
	}
	return duck.CreateBytePatch(json.RawMessage(raw), json.RawMessage(merged)) //nolint:wrapcheck // ignored
}

// withBoundedMetrics returns the context of a process whose metrics of requests have no attribute with values of the client. Upstream keeps a histogram
// for each path, each header Host, and each kind that a body names, and any Pod can send them. kn.webhook.handler.duration keeps the kinds, because
// nothing else has them. A view of the main replaces this one.
func (p *process) withBoundedMetrics(ctx context.Context) context.Context {
	views := sharedmain.OTelViews(ctx)
	bounded := func(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
		server := strings.HasPrefix(i.Name, "http.server.")
		if !server && i.Name != "kn.webhook.handler.duration" || slices.ContainsFunc(views, func(view sdkmetric.View) bool { _, ok := view(i); return ok }) {
			return sdkmetric.Stream{}, false
		}
		return sdkmetric.Stream{Name: i.Name, Description: i.Description, Unit: i.Unit, AttributeFilter: func(a attribute.KeyValue) bool {
			if a.Key == "http.route" {
				_, served := p.paths.Load(a.Value.AsString())
				return served
			}
			return !server || !strings.HasPrefix(string(a.Key), "server.") && !strings.HasPrefix(string(a.Key), "kn.webhook.")
		}}, true
	}
	return sharedmain.WithOTelViews(ctx, append(slices.Clone(views), bounded)...)
}

// quietEncoding is the name of zap's JSON encoder without the lines of requests.
const quietEncoding = "json-without-requests"

// routine are the beginnings of the lines that package webhook writes for each request. The first one has all headers, and the last one, at level debug,
// has values, such as those of a Secret that is patched.
var routine = []string{"Webhook ServeHTTP request=", "remote admission controller audit annotations=", "Kind: ", "AdmissionReview patch="}

// unfixable are the beginnings of lines about what no one can fix in this process: a client that ends a connection or does not trust the certificate, and
// an Event whose namespace is deleted.
var unfixable = []string{"http: TLS handshake error", "Server rejected event (will not retry!)"}

// quiet is an encoder that writes nothing for a routine line, and an unfixable one as no error.
type quiet struct{ zapcore.Encoder }

// Clone implements zapcore.Encoder.
func (q quiet) Clone() zapcore.Encoder { return quiet{q.Encoder.Clone()} }

// EncodeEntry implements zapcore.Encoder.
func (q quiet) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	beginsWith := func(text string) bool { return strings.HasPrefix(entry.Message, text) }
	if entry.Level <= zapcore.InfoLevel && slices.ContainsFunc(routine, beginsWith) {
		return buffers.Get(), nil
	}
	if slices.ContainsFunc(unfixable, beginsWith) {
		entry.Level, entry.Stack = zapcore.WarnLevel, ""
	}
	return q.Encoder.EncodeEntry(entry, fields) //nolint:wrapcheck // it is the result
}

var buffers = buffer.NewPool()

// withQuietRequests makes the logger use the encoder, in a process without webhooks only if the ConfigMap was read. The level remains that of the ConfigMap.
// Sharedmain reports a configuration that cannot be read or used.
func withQuietRequests(ctx context.Context) context.Context {
	if webhook.GetOptions(ctx) == nil && logging.GetConfig(ctx) == nil {
		return ctx
	}
	cfg, err := sharedmain.GetLoggingConfig(ctx)
	// Package logging has this default, and others for what is left out.
	zapConfig := map[string]any{"encoding": "json"}
	if err != nil || cfg.LoggingConfig != "" && json.Unmarshal([]byte(cfg.LoggingConfig), &zapConfig) != nil || zapConfig["encoding"] != "json" {
		return ctx
	}
	zapConfig["encoding"] = quietEncoding
	changed, _ := json.Marshal(zapConfig) // it was decoded
	// It fails if there is such an encoder already.
	_ = zap.RegisterEncoder(quietEncoding, func(c zapcore.EncoderConfig) (zapcore.Encoder, error) {
		return quiet{zapcore.NewJSONEncoder(c)}, nil
	})
	cfg.LoggingConfig = string(changed)
	return logging.WithConfig(ctx, cfg)
}
