/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	knativewebhook "knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/crud"
)

// now is the time at which the certificate of certs was created.
var now = time.Now()

var wanted = registration{
	service: types.NamespacedName{Namespace: "ns", Name: "hooks"}, secret: crud.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "certs"},
	reviews: []*Review{{kind: TypeValidating, Admission: &Admission{Name: "a"}}, {kind: TypeValidating, Admission: &Admission{Name: "b"}}},
}

// certs returns the data of a Secret with a certificate that is valid for some time from now on.
func certs(t *testing.T, service string, valid time.Duration) map[string][]byte {
	t.Helper()
	key, cert, ca, err := certresources.CreateCerts(t.Context(), service, "ns", now.Add(valid))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca}
}

// register runs the hook once with a Secret, and returns its operations.
func register(t *testing.T, data map[string][]byte) []crud.Operation {
	t.Helper()
	secret, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs", ResourceVersion: "7"}, Data: data,
	})
	if err != nil {
		t.Fatal(err)
	}
	run := &Run{Logger: zap.NewNop().Sugar(), Contexts: []Context{{
		Snapshots: map[string][]Snapshot{"Secret": {{Object: &unstructured.Unstructured{Object: secret}}}},
	}}}
	if err := wanted.register(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	for _, op := range run.Plan.Operations {
		if err := op.Validate(); err != nil {
			t.Error(err)
		}
	}
	return run.Plan.Operations
}

// expectWebhooks expects the operations that complete both configurations.
func expectWebhooks(t *testing.T, got []crud.Operation, ca []byte) {
	t.Helper()
	if len(got) != 2 || got[0].Ref.String() != "ValidatingWebhookConfiguration hooks.ns" || got[1].Ref.String() != "MutatingWebhookConfiguration hooks.ns" {
		t.Fatalf("the operations are %v", got)
	}
	var patch admissionregistrationv1.ValidatingWebhookConfiguration
	if err := json.Unmarshal(got[0].Patch, &patch); err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, w := range patch.Webhooks {
		if names += w.Name; !bytes.Equal(w.ClientConfig.CABundle, ca) {
			t.Errorf("webhook %s has another CA", w.Name)
		}
	}
	if names != "ab" || got[0].IgnoreMissing {
		t.Errorf("the webhooks are %s, and a configuration that does not exist is ignored: %t", names, got[0].IgnoreMissing)
	}
	if string(got[1].Patch) != `{"webhooks":[]}` || !got[1].IgnoreMissing {
		t.Errorf("the configuration without webhooks is patched with %s, and has to exist: %t", got[1].Patch, !got[1].IgnoreMissing)
	}
}

func TestRegistration_CertificateIsUsable_IsThatOfTheWebhooks(t *testing.T) {
	data := certs(t, "hooks", validFor)
	expectWebhooks(t, register(t, data), data[certresources.CACert])
}

func TestRegistration_CertificateIsUnusable_IsReplaced(t *testing.T) {
	mixed := certs(t, "hooks", validFor)
	mixed[certresources.CACert] = certs(t, "hooks", validFor)[certresources.CACert]
	for name, data := range map[string]map[string][]byte{
		"Empty": nil, "AnotherHost": certs(t, "another", validFor), "Expires": certs(t, "hooks", renewBefore-time.Hour), "AnotherCA": mixed,
	} {
		t.Run(name, func(t *testing.T) {
			got := register(t, data)
			if got[0].Ref != wanted.secret || got[0].RequiredVersion() != "7" {
				t.Fatalf("the operations are %v, and the first one requires version %q", got, got[0].RequiredVersion())
			}
			var stored corev1.Secret
			if err := json.Unmarshal(got[0].Patch, &stored); err != nil {
				t.Fatal(err)
			}
			if err := wanted.check(stored.Data, now.Add(validFor-time.Hour)); err != nil {
				t.Errorf("the new certificate: %v", err)
			}
			expectWebhooks(t, got[1:], stored.Data[certresources.CACert])
		})
	}
}

func TestRegistration_SecretIsMissing_IsAnError(t *testing.T) {
	err := wanted.register(t.Context(), &Run{})
	if err == nil || !strings.Contains(err.Error(), "the Secret ns/certs of the certificate does not exist") {
		t.Errorf("the error is %v", err)
	}
}

func TestRegistration_Bindings_AreValid(t *testing.T) {
	if _, err := NewController(Options{}, wanted.hook()); err != nil {
		t.Error(err)
	}
}

// A response with another UID is a failed call to the API server.
func TestServer_Error_IsNoAnswer(t *testing.T) {
	wh, err := knativewebhook.New(knativewebhook.WithOptions(t.Context(), knativewebhook.Options{}), []any{&server{answers: map[string]func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error){
		"/reviews/answers": func(_ context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			return &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"of " + request.Name}}, nil
		},
		"/reviews/fails": func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			return nil, errors.New("the hook has failed")
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/reviews/answers": "1", "/reviews/fails": "the hook has failed", "/reviews/other": "no hook answers reviews at /reviews/other",
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(`{"request": {"uid": "1", "name": "a"}}`))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		wh.ServeHTTP(recorder, request)
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil || string(review.Response.UID) != want || review.Response.Allowed != (want == "1") {
			t.Errorf("%s is answered with %s, %v, want the UID %q", path, recorder.Body, err, want)
		}
	}
}
