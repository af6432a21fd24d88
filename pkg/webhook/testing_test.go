/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	_ "knative.dev/pkg/client/injection/kube/client/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration/fake"
	"knative.dev/pkg/controller"
	_ "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

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

// patched returns an object as the API server stores it after the defaulting webhook.
func patched(t *testing.T, response *admissionv1.AdmissionResponse, object string) any {
	t.Helper()
	if !response.Allowed {
		t.Fatalf("rejected: %v", response.Result)
	}
	result := []byte(object)
	if len(response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if result, err = patch.Apply(result); err != nil {
			t.Fatalf("the API server could not apply %s: %v", response.Patch, err)
		}
	}
	return decoded(t, string(result))
}

func decoded(t *testing.T, object string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(object), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// expectDefaulted expects the API server to store an object as want once it is created as sent.
func expectDefaulted(t *testing.T, impl *controller.Impl, kind metav1.GroupVersionKind, sent, want string) {
	t.Helper()
	if diff := cmp.Diff(decoded(t, want), patched(t, admit(t, impl, kind, sent), sent)); diff != "" {
		t.Errorf("%s of version %s (-want +got):\n%s", kind.Kind, kind.Version, diff)
	}
}
