/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func TestDefaulting_ConfigMapChanges_AreFollowed(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	watcher := &configmap.ManualWatcher{Namespace: system.Namespace()}
	impl := NewDefaultingController(ctx, watcher)

	for _, class := range []string{"first", "second"} {
		cm := &corev1.ConfigMap{Data: map[string]string{"default-class": class}}
		cm.Namespace, cm.Name = system.Namespace(), config.AddressableName
		watcher.OnChange(cm)
		response := admit(t, impl, kindOf("v1", "AddressableService"),
			`{"apiVersion":"samples.knative.dev/v1","kind":"AddressableService","metadata":{"namespace":"ns","name":"a"},`+
				`"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"s"}}}`)
		if !response.Allowed {
			t.Fatalf("rejected: %v", response.Result)
		}
		if got := string(response.Patch); !strings.Contains(got, `"`+class+`"`) {
			t.Errorf("with default-class %s the patch is %s", class, got)
		}
	}
}

func newDefaulting(t *testing.T) *controller.Impl {
	t.Helper()
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	watcher := &configmap.ManualWatcher{Namespace: system.Namespace()}
	impl := NewDefaultingController(ctx, watcher)
	cm := &corev1.ConfigMap{Data: map[string]string{"default-class": "mallard"}}
	cm.Namespace, cm.Name = system.Namespace(), config.AddressableName
	watcher.OnChange(cm)
	return impl
}

func TestDefaulting_UpdateThatLeavesTheClassOut_KeepsIt(t *testing.T) {
	const sent, old = `{"metadata":{},"spec":{"ref":{"kind":"Service"}}}`, `{"metadata":{"annotations":{"samples.knative.dev/addressableservice.class":"other"}},"spec":{"ref":{"kind":"Service"}}}`
	if got := admit(t, newDefaulting(t), kindOf("v1", "AddressableService"), sent, old); !strings.Contains(string(got.Patch), `"samples.knative.dev/addressableservice.class":"other"`) {
		t.Errorf("the patch is %s, want one with the class", got.Patch)
	}
}

func TestValidation_ObjectOfALaterRelease_IsAccepted(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	const object = `{"metadata":{"namespace":"ns","name":"a","later":1},"status":{"later":1},
		"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"s"}}}`
	impl := NewValidationController(ctx, nil)
	if response := admit(t, impl, kindOf("v1", "AddressableService"), object, object); !response.Allowed {
		t.Errorf("rejected: %v", response.Result)
	}
	if response := admit(t, impl, kindOf("v9", "AddressableService"), object); response.Allowed {
		t.Error("an object of a version that this release does not have is accepted unseen")
	}
}

func TestValidation_Warnings_ReachTheAPIServer(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "webhook-certs"})
	server, err := webhook.New(ctx, []any{NewValidationController(ctx, nil).Reconciler})
	if err != nil {
		t.Fatal(err)
	}
	server.InformersHaveSynced()
	body, err := json.Marshal(admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Kind: kindOf("v1", "AddressableService"),
		Object: runtime.RawExtension{Raw: []byte(`{"metadata":{"namespace":"ns","name":"a",
			"annotations":{"samples.knative.dev/addressableservice.class":"malard"}},
			"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"s"}}}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/validation", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, request)
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil {
		t.Fatal(err)
	}
	if !review.Response.Allowed || !strings.Contains(strings.Join(review.Response.Warnings, " "), "malard") {
		t.Errorf("the response is %+v, want an allowed one with a warning about the class", review.Response)
	}
}

func TestValidation_InvalidObject_IsRejectedWithTheField(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	impl := NewValidationController(ctx, nil)

	for name, tc := range map[string]struct{ object, want string }{
		"good": {`{"metadata":{"namespace":"ns","name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"s"}}}`, ""},
		"reference to itself": {
			`{"metadata":{"namespace":"ns","name":"a"},"spec":{"ref":{"apiVersion":"samples.knative.dev/v1","kind":"AddressableService","name":"a"}}}`,
			"spec.ref.name",
		},
		"undecodable": {`{"metadata":{"namespace":"ns","name":"a"},"spec":{"path":1}}`, "spec.path"},
	} {
		t.Run(name, func(t *testing.T) {
			response := admit(t, impl, kindOf("v1", "AddressableService"), tc.object)
			if tc.want == "" {
				if !response.Allowed {
					t.Errorf("rejected: %v", response.Result)
				}
				return
			}
			if response.Allowed || !strings.Contains(response.Result.Message, tc.want) {
				t.Errorf("the answer is %+v, want a rejection that names %s", response, tc.want)
			}
		})
	}
}

func TestConfigValidation_InvalidConfigMap_IsRejectedWithTheKey(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	impl := NewConfigValidationController(ctx, nil)
	kind := metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

	for name, tc := range map[string]struct{ cm, data, want string }{
		"addressable":     {"config-addressable", `{"scheme":"ftp"}`, "scheme: "},
		"leader election": {"config-leader-election", `{"buckets":"0"}`, "buckets"},
		"logging":         {"config-logging", `{"loglevel.controller":"loud"}`, "loud"},
		"observability":   {"config-observability", `{"metrics-protocol":"pigeon"}`, "pigeon"},
		"a foreign one":   {"other", `{"scheme":"ftp"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			response := admit(t, impl, kind, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"`+system.Namespace()+
				`","name":"`+tc.cm+`"},"data":`+tc.data+`}`)
			if tc.want == "" {
				if !response.Allowed {
					t.Errorf("rejected: %v", response.Result)
				}
				return
			}
			if response.Allowed || !strings.Contains(response.Result.Message, tc.want) {
				t.Errorf("the answer is %+v, want a rejection that names %s", response, tc.want)
			}
		})
	}
}

// admit sends an object that is created, or updated if there is an old one, to the admission controller of impl.
func admit(t *testing.T, impl *controller.Impl, kind metav1.GroupVersionKind, object string, old ...string) *admissionv1.AdmissionResponse {
	t.Helper()
	request := &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Kind: kind, Object: runtime.RawExtension{Raw: []byte(object)}}
	for _, old := range old {
		request.Operation, request.OldObject = admissionv1.Update, runtime.RawExtension{Raw: []byte(old)}
	}
	admission, ok := impl.Reconciler.(webhook.AdmissionController)
	if !ok {
		t.Fatalf("%T admits nothing", impl.Reconciler)
	}
	return admission.Admit(t.Context(), request)
}

func kindOf(version, kind string) metav1.GroupVersionKind {
	return metav1.GroupVersionKind{Group: samples.GroupName, Version: version, Kind: kind}
}
