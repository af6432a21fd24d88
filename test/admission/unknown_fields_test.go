/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/test/harness"
)

// levels are the objects that a manifest consists of, and how the API server names a field of each.
var levels = map[string]string{
	"":              "",
	"metadata.":     "metadata.",
	"spec.":         "spec.",
	"spec.ref.":     "spec.ref.",
	"spec.ports.0.": "spec.ports[0].",
	"spec.publish.": "spec.publish.",
}

func TestUnknownFieldsAreRefusedAtEveryLevel(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for level, named := range levels {
		t.Run(level+"unknown", func(t *testing.T) {
			t.Parallel()
			want := fmt.Sprintf("unknown field %q", named+"unknown")
			_, err := tryCreate(t, env, object(ns, set(level+"unknown", "value")))
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("create: got error %v, want a bad request that says %s", err, want)
			}
		})
	}
}

func TestAFieldThatStandsTwiceIsRefused(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	manifest := `{"apiVersion": "samples.knative.dev/v1", "kind": "AddressableService", "metadata": {"name": "subject"},
		"spec": {"ref": {"apiVersion": "v1", "kind": "Service", "name": "one", "name": "two"}}}`
	err := env.Samples.SamplesV1().RESTClient().Post().Namespace(env.Namespace(t)).Resource(resource.Resource).
		Param("fieldValidation", metav1.FieldValidationStrict).Body([]byte(manifest)).
		SetHeader("Content-Type", "application/json").Do(t.Context()).Error()
	if want := `duplicate field "spec.ref.name"`; !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want a bad request that says %s", err, want)
	}
}

// A client that does not ask for strict validation is warned, as the API server's default is.
func TestALenientClientIsWarnedOfUnknownFieldsAndTheyAreDropped(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	client, warnings := warned(t, env)
	for level, name := range levels {
		sent := object(ns, set(level+"unknown", "value"))
		stored, err := client.Resource(resource).Namespace(ns).Create(t.Context(), sent, metav1.CreateOptions{})
		if err != nil {
			t.Errorf("%sunknown: %v", level, err)
			continue
		}
		want := fmt.Sprintf("unknown field %q", name+"unknown")
		if got := warnings.take(); len(got) != 1 || got[0] != want {
			t.Errorf("%sunknown: got warnings %q, want only %q", level, got, want)
		}
		if diff := gocmp.Diff(object(ns).Object["spec"], stored.Object["spec"]); diff != "" {
			t.Errorf("%sunknown: the spec is stored with a difference (-without it, +stored):\n%s", level, diff)
		}
		parent, last := parentOf(stored.Object, level+"unknown")
		if parent[last] != nil {
			t.Errorf("%sunknown is stored", level)
		}
	}
	// Nor is there a warning where there is nothing to warn of.
	if _, err := client.Resource(resource).Namespace(ns).Create(t.Context(), object(ns), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if got := warnings.take(); len(got) != 0 {
		t.Errorf("without an unknown field: got warnings %q, want none", got)
	}
}

func TestUnknownFieldsOfTheStatusAreRefused(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	subject := create(t, env, object(ns, classed("elsewhere")))
	_, err := services(env, ns).Patch(t.Context(), subject.GetName(), types.MergePatchType, []byte(`{"status": {"unknown": true}}`),
		metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, "status")
	if want := `unknown field "status.unknown"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one that says %s", err, want)
	}
}

// recordedWarnings are what the API server has warned of.
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
