/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/manifest"

	v1 "example.com/gizmo/apis/v1"
	"example.com/gizmo/apis/v1beta1"
	"example.com/gizmo/webhook"
)

func TestMain(m *testing.M) { harness.Main(m, harness.Bare()) }

// cluster is a client for a namespace of a test, whose Gizmos the webhooks of this process serve.
type cluster struct {
	client.Client
	namespace string
	warnings  *warnings
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	env := harness.Shared(t)
	install(t, env)
	c := &cluster{namespace: env.Namespace(t), warnings: &warnings{}}
	config := rest.CopyConfig(env.Config)
	config.WarningHandler = c.warnings
	c.Client = newClient(t, config)
	return c
}

func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// warnings collects the warnings that the API server sends.
type warnings struct {
	mu   sync.Mutex
	text string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text += text + "\n"
}

func (w *warnings) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.text
	w.text = ""
	return text
}

var installed sync.Once

// install serves the webhooks for all tests, and waits until the API server calls them.
func install(t *testing.T, env *harness.Env) {
	t.Helper()
	installed.Do(func() {
		address, certificate := serve(t, env)
		manifests, err := manifest.ReadDir("../config")
		if err != nil {
			t.Fatal(err)
		}
		c := newClient(t, env.Config)
		for _, each := range manifests {
			direct(t, each.Object, address, base64.StdEncoding.EncodeToString(certificate))
			if err := c.Create(t.Context(), each); err != nil {
				t.Fatal(err)
			}
		}
		awaitWebhooks(t, env)
	})
}

// unvalidated is the label of Gizmos that the validating webhooks ignore.
const unvalidated = "gizmo.example.com/unvalidated"

// direct replaces the Service of a webhook by the address of this process, in a CRD or a webhook configuration.
func direct(t *testing.T, object map[string]any, address, certificate string) {
	t.Helper()
	webhooks, _, _ := unstructured.NestedSlice(object, "webhooks")
	for _, webhook := range webhooks {
		direct(t, webhook.(map[string]any), address, certificate)
	}
	if webhooks != nil {
		object["webhooks"] = webhooks
		return
	}
	fields := []string{"clientConfig"}
	if object["kind"] == "CustomResourceDefinition" {
		fields = []string{"spec", "conversion", "webhook", "clientConfig"}
	} else if path, _, _ := unstructured.NestedString(object, "clientConfig", "service", "path"); strings.HasPrefix(path, "/validate") {
		object["objectSelector"] = map[string]any{"matchExpressions": []any{map[string]any{"key": unvalidated, "operator": "DoesNotExist"}}}
	}
	path, found, err := unstructured.NestedString(object, append(fields, "service", "path")...)
	if err != nil || !found {
		t.Fatalf("%v has no path of a Service: %v", object, err)
	}
	if err := unstructured.SetNestedMap(object, map[string]any{"url": address + path, "caBundle": certificate}, fields...); err != nil {
		t.Fatal(err)
	}
}

// serve starts the webhooks. They end with the process.
func serve(t *testing.T, env *harness.Env) (address string, certificate []byte) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	webhooks := ctrlwebhook.NewServer(ctrlwebhook.Options{Host: "127.0.0.1", Port: port, CertDir: dir})
	manager, err := ctrl.NewManager(env.Config, ctrl.Options{
		Scheme: newScheme(t), WebhookServer: webhooks, Metrics: server.Options{BindAddress: "0"}, Logger: ctrl.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := webhook.Setup(manager); err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := manager.Start(context.Background()); err != nil {
			panic(err)
		}
	}()
	harness.Eventually(t, "the webhook server", func(context.Context) error { return webhooks.StartedChecker()(nil) })
	return "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), certificate
}

// awaitWebhooks waits until the API server calls the webhooks of all versions.
func awaitWebhooks(t *testing.T, env *harness.Env) {
	t.Helper()
	c, namespace := newClient(t, env.Config), env.Namespace(t)
	newObjects := map[string]func() client.Object{
		"v1": func() client.Object { return &v1.Gizmo{} }, "v1beta1": func() client.Object { return &v1beta1.Gizmo{} },
	}
	for version, newObject := range newObjects {
		probe := newObject()
		probe.SetNamespace(namespace)
		probe.SetName("probe-" + version)
		harness.Eventually(t, "the CRD at "+version, func(ctx context.Context) error { return client.IgnoreAlreadyExists(c.Create(ctx, probe)) })
		harness.Eventually(t, "the defaulting webhook of "+version, func(ctx context.Context) error {
			sent := probe.DeepCopyObject().(client.Object)
			sent.SetAnnotations(map[string]string{annotation: "{}"})
			if err := c.Update(ctx, sent, client.DryRunAll); err != nil {
				return err
			}
			if sent.GetAnnotations()[annotation] != "" {
				return errors.New("the annotation was stored")
			}
			return nil
		})
		harness.Eventually(t, "the validating webhook of "+version, func(ctx context.Context) error {
			sent := newObject()
			sent.SetNamespace(namespace)
			sent.SetName("rejected")
			sent.SetLabels(map[string]string{truncatedLabel: "1"})
			if err := c.Create(ctx, sent, client.DryRunAll); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "this version cannot represent") {
				return fmt.Errorf("creating an object with the label %s: %w", truncatedLabel, err)
			}
			return nil
		})
	}
}
