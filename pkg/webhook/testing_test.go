/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"testing"

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
