/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// nasty is a value that has everything which shells, jq, YAML and JSON interpret.
const nasty = "it's \"quoted\" $HOME `id` $(id) \\(.x) \\n \\u0041 {a: [1]} # not a comment\n\tsecond: line\n---\n${x} üñí→🦆 %s * ? ! ~ & | ; < >\n"

// 12: the shell functions pass every value as it is.
func TestFunctions_ValuesFullOfQuotes_ArriveAsTheyAre(t *testing.T) {
	s := newScene(t)
	s.create("patched", "1", nil)
	s.create("deleted", "1", nil)
	s.create("kept", "1", nil)
	if err := os.WriteFile(filepath.Join(s.runs, "value"), []byte(nasty), 0o600); err != nil {
		t.Fatal(err)
	}
	s.script("functions", startup, `
value=$(cat "$runs/value"; printf x)
value=${value%x}
set -x
crud::create_or_update --arg ns="$ns" --arg value="$value" '{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: "created"}, data: {value: $value}}'
crud::create <<EOF
apiVersion: v1
kind: ConfigMap
metadata: {namespace: $ns, name: from-stdin}
data: {value: "9007199254740993"}
EOF
crud::create_if_not_exists --arg ns="$ns" '{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: "kept"}, data: {value: "2"}}'
crud::jq_patch --namespace "$ns" --arg value="$value" --arg other=2 ConfigMap patched '.data.jq = $value | .data.other = $other'
crud::merge_patch -n "$ns" cm patched --arg value="$value" '{data: {merge: $value}}'
crud::json_patch -n "$ns" cm patched --arg value="$value" '[{op: "add", path: "/data/json", value: $value}]'
crud::merge_patch -n "$ns" --ignore-missing --api-version v1 ConfigMap missing '{"data": {"a": "b"}}'
crud::ensure_deleted_in_background -n "$ns" --wait 5s ConfigMap deleted
if crud::ensure_deleted --namspace "$ns" ConfigMap kept; then exit 5; fi
if crud::create 'not an object'; then exit 6; fi
if crud::create --arg ns="$ns" '("one", "two") as $name | {apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: $name}}' 2>"$runs/several"; then exit 7; fi
if crud::merge_patch -n "$ns" --arg value=2 ConfigMap kept 'empty' 2>"$runs/none"; then exit 8; fi
`)
	s.script("reads", `configVersion: v1
kubernetes: [{kind: ConfigMap, nameSelector: {matchNames: [created]}, namespace: {nameSelector: {matchNames: [$NS]}}}]`, `
crud::context --arg name=created '.[] | (.objects[]?.object, .object // empty) | select(.metadata.name == $name).data.value' >"$runs/read"
crud::objects >"$runs/objects"
`)
	s.start(s.quick(), s.load(s.quick())...)
	s.awaitData("created", "value", nasty)
	s.awaitData("from-stdin", "value", "9007199254740993")
	for _, key := range []string{"jq", "merge", "json"} {
		s.awaitData("patched", key, nasty)
	}
	s.awaitData("kept", "value", "1")
	harness.Eventually(t, "the ConfigMap is deleted, and the one that was created is read", func(ctx context.Context) error {
		_, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(ctx, "deleted", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("it exists"), err)
		}
		read, err := os.ReadFile(filepath.Join(s.runs, "read"))
		if diff := cmp.Diff(nasty+"\n", string(read)); err == nil && diff != "" {
			return errors.New(diff)
		}
		return err
	})
	expectMeasured(t, 0, "hook.run.errors", "functions")
	for file, want := range map[string]string{
		"several": "Create: the jq program returned 2 values: it must return one",
		"none":    "MergePatch: the jq program returned 0 values: it must return one",
	} {
		if printed, err := os.ReadFile(filepath.Join(s.runs, file)); err != nil || !strings.Contains(string(printed), want) {
			t.Errorf("a jq program with %s values: the error is %q (%v), want %q", file, printed, err, want)
		}
	}
	for _, name := range []string{"one", "two"} {
		if _, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("an operation of a program with several results was executed: %v", err)
		}
	}
}
