/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"bytes"
	"encoding/pem"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/reconciler"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	knativecertificates "knative.dev/pkg/webhook/certificates"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

var serviceHost = "webhook." + system.Namespace() + ".svc"

// look fails the test on an error.
func look(t *testing.T, r *rotation, now time.Time, data map[string][]byte, bundles ...[]byte) step {
	t.Helper()
	var registered []entry
	for _, bundle := range bundles {
		registered = append(registered, entry{ca: bundle})
	}
	next, err := r.next(now, data, registered)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// trusts fails unless the data's serving certificate is good for an API server with a bundle.
func trusts(t *testing.T, bundle []byte, data map[string][]byte) {
	t.Helper()
	if _, err := (&rotation{host: serviceHost}).check(data[certresources.ServerKey], data[certresources.ServerCert], bundle, time.Now()); err != nil {
		t.Error(err)
	}
}

func TestRotation_CertificateNearExpiry_WaitsUntilItsCAIsTrusted(t *testing.T) {
	r, old, now := &rotation{host: serviceHost}, certificate(t, "webhook", time.Hour), time.Now()

	announced := look(t, r, now, old, old[certresources.CACert])
	if announced.data == nil {
		t.Fatal("a certificate that ends in an hour is kept")
	}
	if !bytes.Equal(announced.data[certresources.ServerCert], old[certresources.ServerCert]) {
		t.Error("the new certificate is served before any client can trust it")
	}
	both := announced.data[certresources.CACert]
	trusts(t, both, old)

	if next := look(t, r, now, announced.data, both, old[certresources.CACert], both); next.data != nil || next.again != 0 {
		t.Errorf("one configuration lacks the new CA, and the next step is %+v", next)
	}
	if next := look(t, r, now, announced.data, both, both); next.data != nil || next.again != propagation {
		t.Errorf("API servers have had no time to learn of the CA, and the next step is %+v", next)
	}
	if next := look(t, r, now.Add(time.Second), announced.data, both, both); next.data != nil || next.again != propagation-time.Second {
		t.Errorf("after one second the next step is %+v", next)
	}
	after := look(t, r, now.Add(propagation), announced.data, both, both)
	if after.data == nil || bytes.Equal(after.data[certresources.ServerCert], old[certresources.ServerCert]) {
		t.Fatalf("the new certificate is not served: %+v", after)
	}
	trusts(t, both, after.data)
	// Another replica may still serve the old one.
	trusts(t, after.data[certresources.CACert], old)
	if got := slices.Sorted(maps.Keys(after.data)); len(got) != 3 {
		t.Errorf("the secret holds %q", got)
	}

	done := look(t, r, now.Add(propagation), after.data, both, both)
	if done.data != nil || done.again < lifetime-renewBefore-time.Minute || done.again > lifetime-renewBefore {
		t.Errorf("with a new certificate the next step is %+v", done)
	}
}

func TestCertificates_APIServersWithASlowClock_AcceptThem(t *testing.T) {
	old := certificate(t, "webhook", time.Hour)
	now := time.Now()
	for _, behind := range []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute} {
		accepts := func(when string, data map[string][]byte, at time.Time) {
			_, err := (&rotation{host: serviceHost}).check(data[certresources.ServerKey], data[certresources.ServerCert], data[certresources.CACert], at.Add(-behind))
			if err != nil {
				t.Errorf("%s behind, %s: %v", behind, when, err)
			}
		}
		r := &rotation{host: serviceHost}
		accepts("at install", look(t, r, now, nil).data, now)

		announced := look(t, r, now, old).data
		look(t, r, now, announced, announced[certresources.CACert])
		at := now.Add(propagation)
		accepts("at a rotation", look(t, r, at, announced, announced[certresources.CACert]).data, at)
	}
}

func TestRotation_TrustRemoved_WaitsAgain(t *testing.T) {
	r, old, now := &rotation{host: serviceHost}, certificate(t, "webhook", time.Hour), time.Now()
	announced := look(t, r, now, old).data
	both := announced[certresources.CACert]
	look(t, r, now, announced, both)
	look(t, r, now.Add(time.Second), announced, old[certresources.CACert])
	if next := look(t, r, now.Add(propagation), announced, both); next.again != propagation {
		t.Errorf("the next step is %+v", next)
	}
}

func TestRotation_Bundle_StaysSmall(t *testing.T) {
	r, data, now := &rotation{host: serviceHost}, certificate(t, "webhook", time.Hour), time.Now()
	for range 4 {
		announced := look(t, r, now, data).data
		look(t, r, now, announced)
		data = look(t, r, now.Add(propagation), announced).data
		if got := strings.Count(string(data[certresources.CACert]), "BEGIN CERTIFICATE"); got != 2 {
			t.Errorf("the bundle holds %d CAs", got)
		}
		now = now.Add(lifetime - renewBefore/2)
	}
}

func TestRotation_InvalidCertificate_IsReplacedAtOnce(t *testing.T) {
	good := certificate(t, "webhook", 48*time.Hour)
	garbage := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})
	for name, data := range map[string]map[string][]byte{
		"empty":             nil,
		"without key":       {certresources.ServerCert: good[certresources.ServerCert], certresources.CACert: good[certresources.CACert]},
		"without CA":        {certresources.ServerCert: good[certresources.ServerCert], certresources.ServerKey: good[certresources.ServerKey]},
		"of another CA":     with(good, certresources.CACert, certificate(t, "webhook", time.Hour)[certresources.CACert]),
		"garbage":           with(good, certresources.ServerCert, garbage),
		"blank":             with(good, certresources.ServerCert, []byte(" \n")),
		"garbage as CA":     with(good, certresources.CACert, garbage),
		"key of another":    with(good, certresources.ServerKey, certificate(t, "webhook", time.Hour)[certresources.ServerKey]),
		"for another host":  certificate(t, "other", 48*time.Hour),
		"that has run out":  certificate(t, "webhook", -time.Minute),
		"with a next alike": with(with(nil, nextCert, garbage), nextKey, garbage),
	} {
		t.Run(name, func(t *testing.T) {
			next := look(t, &rotation{host: serviceHost}, time.Now(), data, good[certresources.CACert])
			if next.data == nil || next.why == "" {
				t.Fatalf("it is kept: %+v", next)
			}
			trusts(t, next.data[certresources.CACert], next.data)
		})
	}
}

func TestRotation_CurrentCertificateInvalid_ServesTheNext(t *testing.T) {
	r, now := &rotation{host: serviceHost}, time.Now()
	announced := look(t, r, now, certificate(t, "webhook", time.Hour)).data
	next := look(t, r, now.Add(2*time.Hour), announced)
	if !bytes.Equal(next.data[certresources.ServerCert], announced[nextCert]) {
		t.Errorf("the next step is %+v, want the certificate whose CA is known already", next)
	}
}

func with(data map[string][]byte, key string, value []byte) map[string][]byte {
	changed := maps.Clone(data)
	if changed == nil {
		changed = map[string][]byte{}
	}
	changed[key] = value
	return changed
}

// The day that this fails knative.dev/pkg makes a new CA known before it serves with it, and
// this package may be no longer needed.
func TestUpstream_Rotation_ReplacesCAAndCertificateTogether(t *testing.T) {
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
	stopped, err := reconcilertesting.RunAndSyncInformers(ctx, informers...)
	t.Cleanup(func() { cancel(); stopped() })
	if err != nil {
		t.Fatal(err)
	}
	secrets := kubeclient.Get(ctx).CoreV1().Secrets(system.Namespace())
	old := certificate(t, "webhook", time.Hour)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: "certs"}, Data: old}
	if err := createErr(secrets.Create(ctx, secret, metav1.CreateOptions{})); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cache has the secret", func() bool {
		return createErr(secretinformer.Get(ctx).Lister().Secrets(system.Namespace()).Get("certs")) == nil
	})
	impl := knativecertificates.NewController(ctx, nil)
	if err := impl.Reconciler.(reconciler.LeaderAware).Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {}); err != nil {
		t.Fatal(err)
	}
	if err := impl.Reconciler.Reconcile(ctx, system.Namespace()+"/certs"); err != nil {
		t.Fatal(err)
	}
	changed, err := secrets.Get(ctx, "certs", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(changed.Data[certresources.ServerCert], old[certresources.ServerCert]) || bytes.Contains(changed.Data[certresources.CACert], old[certresources.CACert]) {
		t.Error("knative keeps the old certificate, or its CA, when it makes a new one: this package may be no longer needed")
	}
}
