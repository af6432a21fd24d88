/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	_ "github.com/mallard-dev/mallard/pkg/observer/secretaudit"
)

const auditLabel = samples.GroupName + "/audit"

func TestSecretAudit_SecretWithTheLabel_IsLoggedAndCountedWithoutItsData(t *testing.T) {
	env := harness.Shared(t)
	role, err := os.ReadFile("../../pkg/observer/secretaudit/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// It is another ServiceAccount than that of an operator that runs.
	account := env.Namespace(t)
	env.Define(t, strings.ReplaceAll(string(role), "namespace: knative-samples", "namespace: "+account))
	var ns string
	value, next := harness.Canary(t), harness.Canary(t)
	secret := func(t *testing.T, name string, labels map[string]string) {
		t.Helper()
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, StringData: map[string]string{"password": value}}
		if _, err := env.Kube.CoreV1().Secrets(ns).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	audited := map[string]string{auditLabel: "true"}
	eachAt(t, env, func(t *testing.T) (*rest.Config, *harness.Proxy) {
		ns = env.Namespace(t)
		secret(t, "before", audited)
		config := rest.CopyConfig(env.Config)
		config.Impersonate.UserName = "system:serviceaccount:" + account + ":controller"
		return config, nil
	}, func(t *testing.T, s *scene) {
		before := changes(t)
		secret(t, "it", audited)
		secret(t, "other", nil)
		lines := func() (lines []string) {
			for _, entry := range s.logs.FilterMessage("A Secret changed").All() {
				_, name, _ := strings.Cut(fmt.Sprint(entry.ContextMap()["secret"]), "/")
				lines = append(lines, fmt.Sprint(entry.ContextMap()["type"], " ", name))
			}
			return lines
		}
		await := func(want ...string) {
			t.Helper()
			harness.Eventually(t, "the lines "+strings.Join(want, ", "), func(context.Context) error {
				if got := lines(); !slices.Equal(byObject(got), byObject(want)) {
					return fmt.Errorf("there are %q", got)
				}
				return nil
			})
		}
		await("Added it")
		secrets := env.Kube.CoreV1().Secrets(ns)
		if _, err := secrets.Patch(t.Context(), "it", "application/merge-patch+json", []byte(`{"stringData": {"password": "`+next+`"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		await("Added it", "Updated it")
		for _, name := range []string{"it", "before", "other"} {
			if err := secrets.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		await("Added it", "Updated it", "Deleted it", "Deleted before")
		for _, entry := range s.logs.All() {
			if text := fmt.Sprint(entry.Message, entry.ContextMap()); harness.Leaked(text, value)+harness.Leaked(text, next) != "" || strings.Contains(text, "other") {
				t.Errorf("it logs %s", text)
			}
		}
		after := changes(t)
		for kind, want := range map[string]int64{"Added": 1, "Updated": 1, "Deleted": 2} {
			if n := after[kind] - before[kind]; n != want {
				t.Errorf("%d changes of type %s are counted, want %d", n, kind, want)
			}
		}
	})
}

// changes returns the changes of Secrets that are counted so far, by type.
func changes(t *testing.T) map[string]int64 {
	t.Helper()
	byType := map[string]int64{}
	for _, kind := range []observe.Type{observe.Added, observe.Updated, observe.Deleted} {
		byType[string(kind)] = counted(t, "secret.changes", map[string]string{"type": string(kind)})
	}
	return byType
}
