/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package expectations

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"knative.dev/pkg/injection"
)

type clientKey struct{}

func TestWithRecordedWrites_Responses_RecordSuccessfulWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		call func(context.Context, typedcorev1.NamespaceInterface) (*corev1.Namespace, error)
		code int
		want bool
	}{
		"UpdateStatus": {code: http.StatusOK, want: true, call: updateStatus},
		"Refused":      {code: http.StatusConflict, call: updateStatus},
		"Patch": {code: http.StatusOK, want: true, call: func(ctx context.Context, c typedcorev1.NamespaceInterface) (*corev1.Namespace, error) {
			return c.Patch(ctx, "it", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		}},
		"Get": {code: http.StatusOK, call: func(ctx context.Context, c typedcorev1.NamespaceInterface) (*corev1.Namespace, error) {
			return c.Get(ctx, "it", metav1.GetOptions{})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			answer := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: at("10").ObjectMeta}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.code)
				_ = json.NewEncoder(w).Encode(answer)
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL}
			ctx := injection.WithConfig(t.Context(), config)
			ctx = context.WithValue(ctx, clientKey{}, kubernetes.NewForConfigOrDie(config))
			writes := NewWrites(nil)
			client := WithRecordedWrites(ctx, writes, clientKey{}, kubernetes.NewForConfig).Value(clientKey{}).(kubernetes.Interface)
			got, err := tc.call(t.Context(), client.CoreV1().Namespaces())
			if (err == nil) != (tc.code == http.StatusOK) || err == nil && got.ResourceVersion != "10" {
				t.Errorf("the client returns %v, %v", got, err)
			}
			if writes.Behind(at("9")) != tc.want {
				t.Errorf("recorded: %t, want %t", !tc.want, tc.want)
			}
		})
	}
}

func updateStatus(ctx context.Context, c typedcorev1.NamespaceInterface) (*corev1.Namespace, error) {
	return c.UpdateStatus(ctx, &corev1.Namespace{ObjectMeta: at("9").ObjectMeta}, metav1.UpdateOptions{})
}

func TestWithRecordedWrites_FakeClient_IsKept(t *testing.T) {
	ctx := context.WithValue(t.Context(), clientKey{}, fake.NewSimpleClientset())
	if WithRecordedWrites(ctx, NewWrites(nil), clientKey{}, kubernetes.NewForConfig) != ctx {
		t.Error("the fake client is replaced")
	}
}
