/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrlconversion "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
	knativewebhook "knative.dev/pkg/webhook"
	knativeconversion "knative.dev/pkg/webhook/resourcesemantics/conversion"

	ctrlv1 "github.com/mallard-dev/mallard/conversion/e2e/controllerruntime/v1"
	ctrlv1beta1 "github.com/mallard-dev/mallard/conversion/e2e/controllerruntime/v1beta1"
	knativev1 "github.com/mallard-dev/mallard/conversion/e2e/knative/v1"
	knativev1beta1 "github.com/mallard-dev/mallard/conversion/e2e/knative/v1beta1"
	"github.com/mallard-dev/mallard/conversion/knative"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { harness.Main(m, harness.Bare()) }

// webhooks make the conversion webhook of a group, by the library that serves it.
var webhooks = map[string]func(t *testing.T, config *rest.Config, group string) http.Handler{
	"knative":           knativeHandler,
	"controllerruntime": controllerRuntimeHandler,
}

// groupOf is the API group that the webhook of a library converts.
func groupOf(library string) string { return library + ".e2e.mallard.dev" }

const path = "/convert"

func knativeHandler(t *testing.T, config *rest.Config, group string) http.Handler {
	t.Helper()
	t.Setenv(system.NamespaceEnvKey, "default")
	ctx := logging.WithLogger(context.Background(), zap.NewNop().Sugar()) // it logs each request
	ctx = knativewebhook.WithOptions(ctx, knativewebhook.Options{ServiceName: "webhook"})
	ctx, _ = injection.Default.SetupInformers(ctx, config)
	converter := knativeconversion.NewConversionController(ctx, path, map[schema.GroupKind]knativeconversion.GroupKindConversion{
		{Group: group, Kind: "Task"}: {
			DefinitionName: "tasks." + group, HubVersion: "v1",
			Zygotes: map[string]knativeconversion.ConvertibleObject{"v1beta1": &knativev1beta1.Task{}, "v1": &knativev1.Task{}},
		},
	}, knative.WithConverting)
	handler, err := knativewebhook.New(ctx, []any{converter.Reconciler})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

func controllerRuntimeHandler(_ *testing.T, _ *rest.Config, group string) http.Handler {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(schema.GroupVersion{Group: group, Version: "v1beta1"}, &ctrlv1beta1.Task{})
	scheme.AddKnownTypes(schema.GroupVersion{Group: group, Version: "v1"}, &ctrlv1.Task{})
	return ctrlconversion.NewWebhookHandler(scheme, ctrlconversion.NewRegistry())
}

var installed sync.Once

// install serves the webhooks for all tests until the process ends, and creates a CRD for each.
func install(t *testing.T) *harness.Env {
	t.Helper()
	env := harness.Shared(t)
	installed.Do(func() {
		crd, err := os.ReadFile("config/crd.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for library, newHandler := range webhooks {
			server := httptest.NewTLSServer(newHandler(t, env.Config, groupOf(library)))
			certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			manifest := strings.NewReplacer(
				"GROUP", groupOf(library), "URL", server.URL+path, "CA_BUNDLE", base64.StdEncoding.EncodeToString(certificate),
			).Replace(string(crd))
			mustKubectl(t, env, manifest, "create", "-f", "-")
			env.Kubectl(t, "wait", "--for=condition=Established", "crd/tasks."+groupOf(library))
		}
	})
	return env
}

func mustKubectl(t *testing.T, env *harness.Env, input string, args ...string) string {
	t.Helper()
	output, err := env.TryKubectl(t, input, args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}
