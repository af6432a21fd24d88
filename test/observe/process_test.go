/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	_ "github.com/mallard-dev/mallard/cmd/observer/secretaudit"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/measured"
)

const auditLabel = samples.GroupName + "/audit"

func TestSecretAudit_SecretWithTheLabel_IsLoggedAndCountedWithoutItsData(t *testing.T) {
	env := harness.Shared(t)
	account := env.Namespace(t)
	grant(t, env, account)
	var ns, value, next string
	secret := func(t *testing.T, name string, labels map[string]string) {
		t.Helper()
		object := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: value}},
			StringData: map[string]string{"password": value},
		}
		if _, err := env.Kube.CoreV1().Secrets(ns).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	audited := map[string]string{auditLabel: "true"}
	eachAt(t, env, func(t *testing.T) (*rest.Config, *harness.Proxy) {
		ns = env.Namespace(t)
		value, next = harness.Canary(t), harness.Canary(t)
		secret(t, "before", audited)
		config := rest.CopyConfig(env.Config)
		config.Impersonate.UserName = "system:serviceaccount:" + account + ":observer"
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
			if text := measured.Log(entry); harness.Leaked(text, value)+harness.Leaked(text, next) != "" || strings.Contains(text, "other") {
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

// grant grants the permissions of the program to its ServiceAccount in a namespace.
func grant(t *testing.T, env *harness.Env, namespace string) {
	t.Helper()
	roles, err := os.ReadFile("../../optional/200-observer.yaml")
	if err != nil {
		t.Fatal(err)
	}
	env.Define(t, strings.NewReplacer("namespace: knative-samples", "namespace: "+namespace,
		"name: mallard-observer", "name: mallard-observer-"+namespace).Replace(string(roles)))
}

func TestObserverProgram_SecretChanges_IsLoggedByTheLeaderWhichReleasesItsLease(t *testing.T) {
	o := newOperator(t)
	grant(t, o.Env, o.system)
	program := filepath.Join(t.TempDir(), "observer")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/observer").CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v: %s", err, out)
	}
	o.connect(t, func(_ *clientcmdapi.Cluster, as *clientcmdapi.AuthInfo) {
		as.Impersonate = "system:serviceaccount:" + o.system + ":observer"
	})
	first := o.startProgram(t, "first", program)
	first.awaitLine(t, "has started leading")
	second := o.startProgram(t, "second", program)
	harness.Eventually(t, "the standby is ready", second.ready)
	change := func(name string) {
		t.Helper()
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{auditLabel: "true"}}}
		if _, err := o.Kube.CoreV1().Secrets(o.ns).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	change("one")
	first.awaitLine(t, "A Secret changed", o.ns+"/one")
	if err := first.group.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	first.awaitEnd(t)
	if err := first.group.Err(); err != nil {
		t.Errorf("the process ends with %v", err)
	}
	second.awaitLine(t, "has started leading")
	change("two")
	second.awaitLine(t, "A Secret changed", o.ns+"/two")
	for _, line := range second.output() {
		if strings.Contains(line, o.ns+"/one") {
			t.Errorf("the second leader logs %q, although the Secret has not changed since", line)
		}
	}
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
