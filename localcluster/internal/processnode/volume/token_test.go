/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package volume

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestToken_BeforeExpiry_IsReplaced lets the time of tokens pass, which an API server would not shorten below ten minutes.
func TestToken_BeforeExpiry_IsReplaced(t *testing.T) {
	for _, c := range []struct {
		name            string
		lifetime        time.Duration
		kept, exchanged time.Duration
	}{
		{"an hour", time.Hour, 47 * time.Minute, 48 * time.Minute},
		{"a year", 365 * 24 * time.Hour, 24*time.Hour - time.Second, 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made := 0
				client := fake.NewClientset()
				client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
					create, ok := action.(clienttesting.CreateActionImpl)
					if !ok || create.Subresource != "token" {
						return false, nil, nil
					}
					request, ok := create.Object.(*authenticationv1.TokenRequest)
					if !ok || request.Spec.BoundObjectRef.UID != "uid" {
						t.Errorf("a token is requested with %+v", create.Object)
					}
					made++
					return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{
						Token: fmt.Sprint("token ", made), ExpirationTimestamp: metav1.NewTime(time.Now().Add(c.lifetime)),
					}}, nil
				})
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "duck", UID: "uid"}}
				projection := &corev1.ServiceAccountTokenProjection{Path: "token"}
				var known tokens
				expect := func(want string) {
					t.Helper()
					if got, err := known.get(t.Context(), client, pod, projection); err != nil || got != want {
						t.Errorf("the token is %q instead of %q (%v)", got, want, err)
					}
				}
				expect("token 1")
				time.Sleep(c.kept) //nolint:forbidigo // it passes at once in a bubble
				expect("token 1")
				time.Sleep(c.exchanged - c.kept) //nolint:forbidigo // it passes at once in a bubble
				expect("token 2")
			})
		})
	}
}
