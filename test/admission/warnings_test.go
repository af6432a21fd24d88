/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// deprecations are the warnings for every client that uses a version.
var deprecations = map[string][]string{
	"v1alpha1": {"samples.knative.dev/v1alpha1 AddressableService is deprecated; use samples.knative.dev/v1"},
	"v1beta1":  {"samples.knative.dev/v1beta1 AddressableService is deprecated; use samples.knative.dev/v1"},
}

func TestWarnings_OlderVersions_AreDeprecated(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	client, warnings := warned(t, env)
	for _, version := range versions {
		services := client.Resource(at(version)).Namespace(ns)
		for _, request := range []struct {
			verb string
			do   func(ctx context.Context) error
		}{
			{"create", func(ctx context.Context) error {
				_, err := services.Create(ctx, objectAt(version, ns, named(version)), metav1.CreateOptions{})
				return err
			}},
			{"get", func(ctx context.Context) error {
				_, err := services.Get(ctx, version, metav1.GetOptions{})
				return err
			}},
			{"list", func(ctx context.Context) error {
				_, err := services.List(ctx, metav1.ListOptions{})
				return err
			}},
			{"patch", func(ctx context.Context) error {
				_, err := services.Patch(ctx, version, types.MergePatchType, []byte(`{"metadata": {"labels": {"touched": "true"}}}`), metav1.PatchOptions{})
				return err
			}},
			{"delete", func(ctx context.Context) error { return services.Delete(ctx, version, metav1.DeleteOptions{}) }},
		} {
			if err := request.do(t.Context()); err != nil {
				t.Errorf("%s at %s: %v", request.verb, version, err)
			}
			if got, want := warnings.take(), deprecations[version]; !slices.Equal(got, want) {
				t.Errorf("%s at %s: got warnings %q, want %q", request.verb, version, got, want)
			}
		}
	}
}

// recordedWarnings are the warnings of the API server.
type recordedWarnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *recordedWarnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// take returns the warnings since it was last called.
func (w *recordedWarnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

// warned returns a client whose warnings are recorded.
func warned(t testing.TB, env *harness.Env) (dynamic.Interface, *recordedWarnings) {
	t.Helper()
	warnings := &recordedWarnings{}
	config := rest.CopyConfig(env.Config)
	config.WarningHandler = warnings
	client, err := dynamic.NewForConfigAndClient(config, httpClient(t, config))
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return client, warnings
}

func httpClient(t testing.TB, config *rest.Config) *http.Client {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}
