/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// hostile are the bodies of hooks, and the reason for which their operations are rejected.
var hostile = map[string]struct{ settings, body, reason string }{
	"output":     {settings: "timeout: 3s", body: `yes "endless $secret"`},
	"line":       {settings: "timeout: 3s", body: `yes "no end $secret" | tr -d '\n'`},
	"operations": {body: `yes '{"operationType": "EnsureDeleted", "kind": "ConfigMap", "namespace": "default", "name": "a"}' | head -100000 >"$KUBERNETES_OPERATION_PATH"`, reason: "syntax"},
	"endless":    {body: `head -c 40000000 /dev/zero | tr '\0' ' ' >"$KUBERNETES_OPERATION_PATH"`, reason: "syntax"},
	"children":   {body: `for i in {1..25}; do setsid sleep 1000 & echo $! >>"$runs/children"; sleep 1000 & echo $! >>"$runs/children"; done; sleep 0.5; exit 1`},
	"symlink":    {body: `rm "$KUBERNETES_OPERATION_PATH"; ln -s /etc/passwd "$KUBERNETES_OPERATION_PATH"`, reason: "file"},
	"fifo":       {body: `rm "$KUBERNETES_OPERATION_PATH"; mkfifo "$KUBERNETES_OPERATION_PATH"`, reason: "file"},
	"folder":     {body: `rm "$KUBERNETES_OPERATION_PATH"; mkdir "$KUBERNETES_OPERATION_PATH"; mkdir -p "$TMPDIR/a/b"; chmod 000 "$TMPDIR/a"`, reason: "file"},
	"metrics":    {body: `yes '{"name": "a", "set": 1}' | head -c 3000000 >"$METRICS_PATH"`, reason: "metrics"},
	"labels":     {body: `echo "{\"name\": \"a\", \"$secret\": 1}" >"$METRICS_PATH"`, reason: "metrics"},
	"link":       {body: `rm "$METRICS_PATH"; ln -s /etc/passwd "$METRICS_PATH"`, reason: "file"},
	"removed":    {body: `rm -r "$TMPDIR"`, reason: "file"},
	"namespace": {
		settings: "namespaces: [$NS]", reason: "namespace",
		body: `crud::create_or_update '{apiVersion: v1, kind: ConfigMap, metadata: {name: hostile, namespace: default}}'`,
	},
	"secret": {body: `echo "the password is $secret" >&2; crud::context . >&2; jq -rn --arg s "$secret" '$s | @uri, @json, @base64' >&2
printf %s "$secret" | od -An -v -tx1 | tr -d ' \n' >&2; exit 1`},
	"parses":    {body: `crud::context '.[0].objects[0].object.data.password | @base64d | tonumber'`},
	"arguments": {body: `crud::jq_patch -n "$ns" Secret it '.data.z = 1' "$(tr a-z A-Z <<<"$secret")"`},
	"invalid": {reason: "preflight", body: `
crud::create_or_update --arg s="$secret" --arg ns="$ns" '{apiVersion: "v1", kind: "Secret", metadata: {namespace: $ns, name: "a"}, data: {password: $s}}'
crud::merge_patch -n "$ns" --arg s="$secret" Secret it '{data: {password: ($s + "!")}}'`},
}

// 9 and 10: hooks that do harm do it to themselves alone, and no value of a Secret is logged.
func TestHostileHooks_HarmNeitherTheProcessNorOthers(t *testing.T) {
	s := newScene(t)
	value := harness.Canary(t)
	if _, err := s.env.Kube.CoreV1().Secrets(s.ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "it"}, StringData: map[string]string{"password": value, "text": "first line of " + value + "\nsecond"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, of := range hostile {
		settings := ""
		if of.settings != "" {
			settings = "settings: {" + of.settings + "}\n"
		}
		s.script(name, "configVersion: v1\n"+settings+`
kubernetes:
- kind: Secret
  queue: `+name+`
  allowFailure: true
  executeHookOnEvent: []
  namespace: {nameSelector: {matchNames: [$NS]}}`, `
secret=$(crud::context '.[0].objects[0].object.data.password | @base64d')
[[ "$secret" == '`+value+`' ]]
`+of.body)
	}
	var j journal
	goHook := s.hook("go", hook.Bindings{Kubernetes: []hook.Kubernetes{{
		Common: hook.Common{Queue: "go", AllowFailure: true}, Kind: "Secret", Namespace: &hook.NamespaceSelector{NameSelector: &hook.NameSelector{MatchNames: []string{s.ns}}},
	}}}, func(_ context.Context, run *hook.Run) error {
		run.Add(crud.EnsureDeleted(crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: "witness0"}))
		if run.Contexts[0].Type == hook.TypeSynchronization {
			panic("the password is " + value)
		}
		return errors.New("the password is " + value)
	})
	witness := s.hook("witness", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps(func(k *hook.Kubernetes) { k.ExecuteHookOnEvent = []hook.WatchEvent{hook.Added} })}},
		func(_ context.Context, run *hook.Run) error {
			j.addf("%s", describe(run.Contexts))
			return nil
		})
	s.start(s.quick(), append(s.load(s.quick()), goHook, witness)...)
	j.await(t, "kubernetes Synchronization")
	s.create("witness0", "1", it)
	j.await(t, "kubernetes Synchronization", "kubernetes EventAdded witness0=1")
	for _, name := range append(slices.Sorted(maps.Keys(hostile)), s.ns+"-go") {
		expectMeasured(t, 1, "hook.run.errors", name)
		if reason := hostile[name].reason; reason != "" {
			expectMeasured(t, 1, "operations.file.rejected", name, "reason", reason)
		}
	}
	s.create("witness1", "1", it)
	j.await(t, "kubernetes Synchronization", "kubernetes EventAdded witness0=1", "kubernetes EventAdded witness1=1")
	s.awaitDead("children", 50)
	s.end()
	<-s.ended
	if left, err := os.ReadDir(s.temporary); err != nil || len(left) > 0 {
		t.Errorf("runs left %v: %v", left, err)
	}
	if _, err := s.env.Kube.CoreV1().ConfigMaps("default").Get(t.Context(), "hostile", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an operation in another namespace was executed: %v", err)
	}
	s.expectLogs(value)
}

// expectLogs checks that what the hooks printed is bounded, and has no value of a Secret.
func (s *scene) expectLogs(value string) {
	s.Helper()
	lines := map[any]int{}
	masked := 0
	for _, entry := range s.logs.All() {
		text := entry.Message + fmt.Sprint(entry.ContextMap())
		lines[entry.ContextMap()["hook"]]++
		if strings.Contains(text, "***") {
			masked++
		}
		if form := harness.Leaked(text, value) + harness.Leaked(text, strings.ToUpper(value)); form != "" {
			s.Errorf("a value of a Secret is logged %s: %.300s", form, text)
		}
		if len(text) > 8192 {
			s.Errorf("a line has %d bytes", len(text))
		}
	}
	for name, n := range lines {
		if n > 1100 {
			s.Errorf("hook %v has %d lines in the log", name, n)
		}
	}
	if masked == 0 || lines["output"] < 100 {
		s.Errorf("%d lines are masked, and %d of the endless output are logged", masked, lines["output"])
	}
}
