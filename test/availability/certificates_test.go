//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const secretName = "webhook-certs"

// certificate is the data of the secret with a certificate that is good for as long.
func certificate(t *testing.T, env *harness.Env, service string, lifetime time.Duration) map[string][]byte {
	t.Helper()
	key, cert, ca, err := certresources.CreateCerts(t.Context(), service, env.SystemNamespace, time.Now().Add(lifetime))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca}
}

func setSecret(t *testing.T, env *harness.Env, data map[string][]byte) {
	t.Helper()
	secrets := env.Kube.CoreV1().Secrets(env.SystemNamespace)
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		secret, err := secrets.Get(t.Context(), secretName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		secret.Data = data
		_, err = secrets.Update(t.Context(), secret, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// load sends admission requests repeatedly, from many goroutines, and keeps nothing.
type load struct {
	tasks    sync.WaitGroup
	stopping chan struct{}
	asked    atomic.Int64
	mu       sync.Mutex
	failures []error
}

func startLoad(t *testing.T, env *harness.Env) *load {
	t.Helper()
	ns := env.Namespace(t)
	l := &load{stopping: make(chan struct{})}
	client := fixtures.Client(env).SamplesV1().AddressableServices(ns)
	ctx := t.Context()
	// More than the connections that the API server keeps, so that new ones are made all the time.
	for range 40 {
		l.tasks.Go(func() {
			for {
				select {
				case <-l.stopping:
					return
				case <-ctx.Done():
					return
				default:
				}
				as := &v1.AddressableService{ObjectMeta: metav1.ObjectMeta{GenerateName: "load-"}, Spec: v1.AddressableServiceSpec{
					Ref: v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"},
				}}
				_, err := client.Create(ctx, as, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				l.asked.Add(1)
				if err != nil {
					l.mu.Lock()
					l.failures = append(l.failures, err)
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

func (l *load) awaitMore(t *testing.T, n int64) {
	t.Helper()
	want := l.asked.Load() + n
	harness.EventuallyWithin(t, patience, "more requests are answered", func(context.Context) error {
		if asked := l.asked.Load(); asked < want {
			return fmt.Errorf("there were %d of %d", asked, want)
		}
		return nil
	})
}

// end fails the test if a request failed.
func (l *load) end(t *testing.T) {
	t.Helper()
	close(l.stopping)
	l.tasks.Wait()
	t.Logf("%d requests, %d failed", l.asked.Load(), len(l.failures))
	if len(l.failures) > 0 {
		t.Errorf("%d of %d requests failed, the first with: %v", len(l.failures), l.asked.Load(), l.failures[0])
	}
}

func TestCertificate_NearExpiry_IsReplacedWithoutAFailedRequest(t *testing.T) {
	t.Parallel()
	names := []string{"webhook", "webhook-1"}
	env := harness.Own(t, harness.WithReplicas("webhook", 2), harness.WithReplicas("controller", 1),
		harness.Without("webhook"), harness.Without("webhook-1"), harness.WithProxy("webhook"), harness.WithProxy("webhook-1"))
	old := certificate(t, env, "webhook", time.Hour)
	setSecret(t, env, old)
	// Nothing is replaced before the load runs.
	env.ExpectErrors(t, "leaderelection/leaderelection.go", "writing the Secret of the certificate")
	var undo []func()
	for _, name := range names {
		undo = append(undo, env.Proxy(t, name).Fail(harness.Matching("update", "secrets"), http.StatusServiceUnavailable))
	}
	for _, name := range names {
		env.Process(t, name).Start(t)
	}
	l := startLoad(t, env)
	l.awaitMore(t, 200)
	for _, f := range undo {
		f()
	}
	harness.EventuallyWithin(t, patience, "another certificate is served", func(ctx context.Context) error {
		secret, err := env.Kube.CoreV1().Secrets(env.SystemNamespace).Get(ctx, secretName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if bytes.Equal(secret.Data[certresources.ServerCert], old[certresources.ServerCert]) {
			return errors.New("it is the old one")
		}
		return nil
	})
	l.awaitMore(t, 400)
	l.end(t)
}

func TestCertificate_SecretCorrupted_IsRestored(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 2), harness.WithReplicas("controller", 1))
	env.ExpectErrors(t, "leaderelection/leaderelection.go", "spec.conversion.webhookClientConfig.caBundle", "is missing \\\"ca-cert.pem\\\" key", "is missing key ca-cert.pem")
	ns := env.Namespace(t)
	good := certificate(t, env, "webhook", 48*time.Hour)
	for name, data := range map[string]map[string][]byte{
		"empty":          nil,
		"garbage":        {certresources.ServerKey: []byte("x"), certresources.ServerCert: []byte("y"), certresources.CACert: []byte("z")},
		"another host":   certificate(t, env, "another-host", 48*time.Hour),
		"ended":          certificate(t, env, "webhook", -time.Minute),
		"key of another": {certresources.ServerKey: certificate(t, env, "webhook", time.Hour)[certresources.ServerKey], certresources.ServerCert: good[certresources.ServerCert], certresources.CACert: good[certresources.CACert]},
	} {
		t.Run(name, func(t *testing.T) {
			setSecret(t, env, data)
			harness.Eventually(t, "the secret is recreated", func(ctx context.Context) error {
				secret, err := env.Kube.CoreV1().Secrets(env.SystemNamespace).Get(ctx, secretName, metav1.GetOptions{})
				if err == nil && (len(secret.Data) == 0 || bytes.Equal(secret.Data[certresources.ServerCert], data[certresources.ServerCert])) {
					err = errors.New("it is still corrupted")
				}
				return err
			})
			harness.Eventually(t, "objects are admitted", func(context.Context) error {
				_, err := env.TryApply(t, ns, fixtures.Target+"---"+subject)
				return err
			})
		})
	}
}

func TestCertificate_WebhookConfigurationDeleted_OthersKeepWorking(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 1), harness.WithReplicas("controller", 1))
	const missing = `\"config.webhook.samples.knative.dev\" not found`
	env.ExpectErrors(t, "leaderelection/leaderelection.go", missing)
	ns := env.Namespace(t)
	env.Kubectl(t, "delete", "validatingwebhookconfiguration", "config.webhook.samples.knative.dev")
	harness.Eventually(t, "it is reported", func(context.Context) error {
		if log := env.Process(t, "webhook").Log(t); !strings.Contains(log, missing) {
			return errors.New("nothing is said of it")
		}
		return nil
	})
	// Longer than the readiness probe takes to fail.
	l := startLoad(t, env)
	harness.EventuallyWithin(t, patience, "the Deployment is Available throughout", func(ctx context.Context) error {
		deployment, err := env.Kube.AppsV1().Deployments(env.SystemNamespace).Get(ctx, "webhook", metav1.GetOptions{})
		if err == nil && deployment.Status.ReadyReplicas != 1 {
			err = fmt.Errorf("%d replicas are ready", deployment.Status.ReadyReplicas)
		}
		return err
	})
	l.awaitMore(t, 100)
	l.end(t)
	env.Apply(t, ns, fixtures.Target+"---"+subject)
}

func TestCertificate_SecretDeleted_IsFilledOnceConfigIsApplied(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 2), harness.WithReplicas("controller", 1))
	// The informers may deliver the empty Secret before the leader has filled it.
	env.ExpectErrors(t, "leaderelection/leaderelection.go", "does not exist; apply it again", `secret \"webhook-certs\" not found`, "failed to fetch secret",
		`secret \"webhook-certs\" is missing`, "secret webhook-certs is missing")
	ns := env.Namespace(t)
	secrets := env.Kube.CoreV1().Secrets(env.SystemNamespace)
	old, err := secrets.Get(t.Context(), secretName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := secrets.Delete(t.Context(), secretName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the leader reports it", func(context.Context) error {
		if !strings.Contains(env.Process(t, "webhook").Log(t)+env.Process(t, "webhook-1").Log(t), "does not exist; apply it again") {
			return errors.New("nothing is said of it")
		}
		return nil
	})

	env.Kubectl(t, "apply", "-f", "../../config/500-webhook-secret.yaml")
	harness.Eventually(t, "the Secret has another certificate", func(ctx context.Context) error {
		secret, err := secrets.Get(ctx, secretName, metav1.GetOptions{})
		if err == nil && (len(secret.Data) == 0 || bytes.Equal(secret.Data[certresources.ServerCert], old.Data[certresources.ServerCert])) {
			err = errors.New("it is empty, or has the old one")
		}
		return err
	})
	harness.Eventually(t, "objects are admitted", func(context.Context) error {
		_, err := env.TryApply(t, ns, fixtures.Target+"---"+subject)
		return err
	})
}
