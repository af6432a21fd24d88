//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestHarness_Requests_AreCounted(t *testing.T) {
	env := harness.Own(t)
	before := env.Requests(t)
	// No other test touches runtime classes, nor does the end of another test's namespace.
	const manifest = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: subject}\nhandler: subject\n"
	ref := env.Apply(t, "", manifest)[0]
	env.Apply(t, "", manifest)
	env.Delete(t, ref)
	since := env.Requests(t).Since(before)
	if got := since.Of(harness.Matching("delete", "runtimeclasses")).Total(); got != 1 {
		t.Errorf("got %d deletions, want 1 in\n%s", got, since)
	}
	if got := since.Of(harness.Matching("apply", "runtimeclasses")).Total(); got != 2 {
		t.Errorf("got %d applies, want 2 in\n%s", got, since)
	}
}

func TestHarness_OwnEnvironment_ErrorsAndCanariesFailTheTest(t *testing.T) {
	test := &recorded{TB: t}
	env := harness.Own(test)
	ns, value := env.Namespace(test), harness.Canary(test)
	env.Apply(t, ns, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\ndata: {a: %q}\n", value))
	env.Kubectl(t, "delete", "validatingwebhookconfiguration", "config.webhook.samples.knative.dev")
	const message = `\"config.webhook.samples.knative.dev\" not found`
	harness.Eventually(t, "an error is logged", func(context.Context) error {
		if !strings.Contains(env.Process(t, "webhook").Log(t), message) {
			return errors.New("the log has no such line")
		}
		return nil
	})
	got := test.end()
	if len(got) != 1 || !strings.Contains(got[0], message) || !strings.Contains(got[0], "the value of a Secret is in configmaps "+ns+"/it, in clear") {
		t.Errorf("the errors are %q, want one with the line of the log and the ConfigMap", got)
	}
}

func TestHarness_SetConfig_IsRestored(t *testing.T) {
	env := harness.Own(t)
	ref := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Namespace: env.SystemNamespace, Name: "config-logging"}
	before := env.Await(t, ref, harness.Exists)
	t.Run("changed", func(t *testing.T) {
		env.SetConfig(t, ref.Name, map[string]string{"loglevel.controller": "debug"})
		changed := env.Await(t, ref, harness.Exists)
		if got, _, _ := unstructured.NestedString(changed.Object, "data", "loglevel.controller"); got != "debug" {
			t.Errorf("got %q, want the new value", got)
		}
	})
	after := env.Await(t, ref, harness.Exists)
	want, _, _ := unstructured.NestedMap(before.Object, "data")
	got, _, _ := unstructured.NestedMap(after.Object, "data")
	if len(got) != len(want) {
		t.Errorf("after the test: got %v, want %v", got, want)
	}
}
