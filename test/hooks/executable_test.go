/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// short replaces each object in a context by its name.
func short(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if metadata, ok := value["metadata"].(map[string]any); ok {
			return metadata["name"]
		}
		for key, field := range value {
			value[key] = short(field)
		}
	case []map[string]any:
		all := []any{}
		for _, item := range value {
			all = append(all, short(item))
		}
		return all
	case []any:
		for i, item := range value {
			value[i] = short(item)
		}
	}
	return value
}

const selected = `
  labelSelector: {matchLabels: {it: ""}}
  namespace: {nameSelector: {matchNames: [$NS]}}`

// 2: the JSON of binding contexts, and the variables.
func TestExecutable_BindingContexts_AreThoseOfShellOperator(t *testing.T) {
	s := newScene(t)
	s.create("first", "1", it)
	s.script("contexts", `configVersion: v1
onStartup: 1
kubernetes:
- name: plain
  kind: ConfigMap`+selected+`
- name: filtered
  kind: ConfigMap
  jqFilter: .data.value
  keepFullObjectsInMemory: false
  queue: filtered
  includeSnapshotsFrom: [plain]`+selected+`
- name: grouped
  kind: ConfigMap
  group: all
  queue: grouped
  executeHookOnSynchronization: false`+selected+`
schedule:
- name: often
  crontab: "@every 1s"
  queue: often
  includeSnapshotsFrom: [filtered]
`, `
[[ "$KUBERNETES_OPERATION_PATH" == "$KUBERNETES_PATCH_PATH" && -f "$METRICS_PATH" && -d "$TMPDIR" ]]
`)
	s.start(s.quick(), s.load(s.quick())...)
	await := func(what string, want any) {
		t.Helper()
		harness.Eventually(t, what, func(context.Context) error {
			var got []any
			for _, run := range s.recordedOf("contexts") {
				if got = append(got, short(run.contexts)); cmp.Equal(want, got[len(got)-1]) {
					return nil
				}
			}
			return fmt.Errorf("there are %v", got)
		})
	}
	type (
		m = map[string]any
		l = []any
	)
	plain, filtered := l{m{"object": "first"}}, l{m{"filterResult": "1"}}
	await("the context of onStartup", l{m{"binding": "onStartup"}})
	await("a Synchronization", l{m{"binding": "plain", "type": "Synchronization", "objects": plain}})
	await("a Synchronization with a filter", l{m{
		"binding": "filtered", "type": "Synchronization", "objects": filtered, "snapshots": m{"plain": plain},
	}})
	await("a Schedule", l{m{"binding": "often", "type": "Schedule", "snapshots": m{"filtered": filtered}}})
	if first := s.recordedOf("contexts")[0]; !cmp.Equal(short(first.contexts), any(l{m{"binding": "onStartup"}})) {
		t.Errorf("the first run is %v", first)
	}
	s.patch("first", `{"data": {"value": "2"}}`)
	await("an Event", l{m{"binding": "plain", "type": "Event", "watchEvent": "Modified", "object": "first"}})
	await("an Event with a filter", l{m{
		"binding": "filtered", "type": "Event", "watchEvent": "Modified", "filterResult": "2", "snapshots": m{"plain": plain},
	}})
	await("a Group", l{m{"binding": "all", "type": "Group", "snapshots": m{"grouped": plain}}})
	s.end()
	<-s.ended
	if left, err := os.ReadDir(s.temporary); err != nil || len(left) > 0 {
		t.Errorf("runs left %v: %v", left, err)
	}
}

// The file is checked as a whole: what is executed of the operations of a hook that failed.
func TestT38_Executable_Failure_ExecutesNothingButWhatIsForErrors(t *testing.T) {
	s := newScene(t)
	labels := map[string]string{"app": "it"}
	if _, err := s.env.Kube.AppsV1().Deployments(s.ns).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "it"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	once := func(queue string) string {
		return "configVersion: v1\nkubernetes: [{kind: ConfigMap, queue: " + queue + ", allowFailure: true, namespace: {nameSelector: {matchNames: [$NS]}}, executeHookOnEvent: []}]"
	}
	const first = `crud::create_or_update --arg ns="$ns" '{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: "no"}}'
`
	for name, body := range map[string]string{
		"exit": first + `crud::merge_patch --status --apply-on-hook-error -n "$ns" Deployment it '{"status": {"observedGeneration": 7}}'
exit 3`,
		"syntax":    first + `echo '{"operationType": "EnsureDeleted", "kind": ' >>"$KUBERNETES_OPERATION_PATH"`,
		"resolve":   first + `crud::ensure_deleted -n "$ns" Deploymnet it`,
		"dryrun":    first + `crud::merge_patch -n "$ns" ConfigMap missing 'data: {a: b}'`,
		"truncated": first + `printf '%s' '{"operationType": "EnsureDeleted", "kind": "ConfigMap", "namespace": "x", "name": "y"' >>"$KUBERNETES_OPERATION_PATH"`,
	} {
		s.script(name, once(name), body)
	}
	s.start(s.quick(), s.load(s.quick())...)
	for name, reason := range map[string]string{"exit": "", "syntax": "syntax", "resolve": "preflight", "dryrun": "preflight", "truncated": "syntax"} {
		harness.Eventually(t, name+" has failed", func(context.Context) error {
			if n := counted(t, "hook.run.errors", name); n != 1 {
				return fmt.Errorf("there are %d failures", n)
			}
			return nil
		})
		if reason != "" {
			expectMeasured(t, 1, "operations.file.rejected", name, "reason", reason)
		}
	}
	if _, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), "no", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an operation was executed: %v", err)
	}
	deployment, err := s.env.Kube.AppsV1().Deployments(s.ns).Get(t.Context(), "it", metav1.GetOptions{})
	if err != nil || deployment.Status.ObservedGeneration != 7 {
		t.Errorf("the operation for errors was not executed: %v, %v", deployment.Status, err)
	}
}

// 3: what is wrong with bindings is reported with the hook and the field, for executables, too.
func TestLoad_WrongBindings_NamesFileAndField(t *testing.T) {
	s := newScene(t)
	s.script("typo", "configVersion: v1\nkubernetes: [{kindd: Pod}]", "")
	s.script("admission", admission("kubernetesValidating", "a.example.com", "  failurePolicy: Retry\n"), "")
	s.script("conversion", "configVersion: v1\nkubernetesCustomResourceConversion: [{name: a}]", "")
	s.script("cron", "configVersion: v1\nschedule: [{crontab: '* *'}]", "")
	_, err := hook.Load(t.Context(), s.hooks, s.quick())
	if err == nil {
		t.Fatal("there is no error")
	}
	for _, want := range []string{
		`typo: its bindings: unknown field "kubernetes[0].kindd"`,
		`admission: its bindings: kubernetesValidating[0].failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"`,
		`conversion: its bindings: unknown field "kubernetesCustomResourceConversion"`,
		"cron: its bindings: schedule[0].crontab: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}
