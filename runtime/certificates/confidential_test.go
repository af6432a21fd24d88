/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"knative.dev/pkg/reconciler"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// A policy can deny the Secret with a message that quotes it. The error of a reconciliation is logged.
func TestReconcile_SecretIsDeniedWithItsContent_TheErrorNamesThePolicyOnly(t *testing.T) {
	state := newRegistered(t)
	state.secret.Data = map[string][]byte{}
	r := state.standby(t)
	r.clock = clock.RealClock{}
	var key string
	client := fake.NewClientset()
	client.PrependReactor("update", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		secret := action.(clienttesting.UpdateAction).GetObject().(*corev1.Secret)
		key = string(secret.Data[certresources.ServerKey])
		return true, nil, apierrors.NewForbidden(corev1.Resource("secrets"), "certs", errors.New("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "+key))
	})
	r.client = client
	if err := r.Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {}); err != nil {
		t.Fatal(err)
	}
	err := r.Reconcile(t.Context(), r.key.String())
	const want = `writing the secret of the certificate: secrets "certs" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request`
	if key == "" || err == nil || err.Error() != want || strings.Contains(err.Error(), "PRIVATE KEY") || !apierrors.IsForbidden(err) {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
