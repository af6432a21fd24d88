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
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

func TestTransport_Responses_RecordSuccessfulWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		call func(context.Context, typedcorev1.NamespaceInterface) (*corev1.Namespace, error)
		code int
		of   *corev1.ConfigMap
		want bool
	}{
		"UpdateStatus": {code: http.StatusOK, of: at("9"), want: true, call: updateStatus},
		"Rejected":     {code: http.StatusConflict, of: at("9"), call: updateStatus},
		"OfAnother":    {code: http.StatusOK, of: at("9", uid("two")), call: updateStatus},
		"OfNobody":     {code: http.StatusOK, call: updateStatus},
		"Patch": {code: http.StatusOK, of: at("9"), want: true, call: func(ctx context.Context, c typedcorev1.NamespaceInterface) (*corev1.Namespace, error) {
			return c.Patch(ctx, "it", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		}},
		"Get": {code: http.StatusOK, of: at("9"), call: func(ctx context.Context, c typedcorev1.NamespaceInterface) (*corev1.Namespace, error) {
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
			config.Wrap(Transport)
			client, writes := kubernetes.NewForConfigOrDie(config), New(nil)
			ctx := t.Context()
			if tc.of != nil {
				ctx = writes.Recording(ctx, tc.of)
			}
			got, err := tc.call(ctx, client.CoreV1().Namespaces())
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
