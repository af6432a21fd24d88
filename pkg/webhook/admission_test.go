/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	_ "knative.dev/pkg/client/injection/kube/client/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration/fake"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration/fake"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	_ "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// admit sends an object that is created to the admission controller of impl.
func admit(t *testing.T, impl *controller.Impl, kind metav1.GroupVersionKind, object string) *admissionv1.AdmissionResponse {
	t.Helper()
	admission, ok := impl.Reconciler.(webhook.AdmissionController)
	if !ok {
		t.Fatalf("%T admits nothing", impl.Reconciler)
	}
	return admission.Admit(t.Context(), &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Kind: kind, Object: runtime.RawExtension{Raw: []byte(object)},
	})
}

func kindOf(version, kind string) metav1.GroupVersionKind {
	return metav1.GroupVersionKind{Group: samples.GroupName, Version: version, Kind: kind}
}

func TestDefaultsFollowTheConfigMap(t *testing.T) {
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
			t.Fatalf("refused: %v", response.Result)
		}
		if got := string(response.Patch); !strings.Contains(got, `"`+class+`"`) {
			t.Errorf("with default-class %s the patch is %s", class, got)
		}
	}
}

func TestValidationRefusesWithTheField(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	impl := NewValidationController(ctx, nil)

	for name, tc := range map[string]struct{ object, want string }{
		"good": {`{"metadata":{"namespace":"ns","name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"s"}}}`, ""},
		"reference to itself": {
			`{"metadata":{"namespace":"ns","name":"a"},"spec":{"ref":{"apiVersion":"samples.knative.dev/v1","kind":"AddressableService","name":"a"}}}`,
			"spec.ref.name",
		},
		"unknown field": {`{"metadata":{"namespace":"ns","name":"a"},"spec":{"rex":{}}}`, `unknown field "rex"`},
	} {
		t.Run(name, func(t *testing.T) {
			response := admit(t, impl, kindOf("v1", "AddressableService"), tc.object)
			if tc.want == "" {
				if !response.Allowed {
					t.Errorf("refused: %v", response.Result)
				}
				return
			}
			if response.Allowed || !strings.Contains(response.Result.Message, tc.want) {
				t.Errorf("the answer is %+v, want a refusal that names %s", response, tc.want)
			}
		})
	}
}

func TestConfigMapsAreRefusedWithTheKey(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	impl := NewConfigValidationController(ctx, nil)
	kind := metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

	for name, tc := range map[string]struct{ cm, data, want string }{
		"addressable":          {"config-addressable", `{"scheme":"ftp"}`, "scheme: "},
		"leader election":      {"config-leader-election", `{"buckets":"0"}`, "buckets"},
		"logging":              {"config-logging", `{"loglevel.controller":"loud"}`, "loud"},
		"observability":        {"config-observability", `{"metrics-protocol":"pigeon"}`, "pigeon"},
		"one of somebody else": {"other", `{"scheme":"ftp"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			response := admit(t, impl, kind, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"`+system.Namespace()+
				`","name":"`+tc.cm+`"},"data":`+tc.data+`}`)
			if tc.want == "" {
				if !response.Allowed {
					t.Errorf("refused: %v", response.Result)
				}
				return
			}
			if response.Allowed || !strings.Contains(response.Result.Message, tc.want) {
				t.Errorf("the answer is %+v, want a refusal that names %s", response, tc.want)
			}
		})
	}
}
