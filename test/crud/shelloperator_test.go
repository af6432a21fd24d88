/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
)

// The forms in which the documentation of shell-operator shows that hooks write operations, with our own objects.
const (
	daemonSet = `{
  "operation": "CreateOrUpdate",
  "object": {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "ducks", "namespace": "$NS"},
    "spec": {
      "selector": {"matchLabels": {"app": "ducks"}},
      "template": {
        "metadata": {"labels": {"app": "ducks", "pond": "north"}},
        "spec": {
          "containers": [{"name": "duck", "image": "duck:v1", "args": ["--quack", "--swim"], "securityContext": {"privileged": true}}],
          "hostNetwork": true,
          "imagePullSecrets": [{"name": "registry"}],
          "terminationGracePeriodSeconds": 5
        }
      },
      "updateStrategy": {"type": "RollingUpdate"}
    }
  }
}`
	configMap = `
operation: Create
object:
  apiVersion: v1
  kind: ConfigMap
  metadata:
    namespace: $NS
    name: pond
  data:
    color: green
`
	configMapInText = `
operation: Create
object: |
  {"apiVersion":"v1", "kind":"ConfigMap",
   "metadata":{"namespace":"$NS","name":"lake"},
   "data":{"color": "blue"}}
`
	deletion             = `{"operation": "Delete", "kind": "Pod", "namespace": "$NS", "name": "duck"}`
	deletionInBackground = `{"operation": "DeleteInBackground", "kind": "Pod", "namespace": "$NS", "name": "duck"}`
	deletionOrphaning    = `{"operation": "DeleteNonCascading", "kind": "Pod", "namespace": "$NS", "name": "duck"}`

	jqPatch           = `{"operation": "JQPatch", "kind": "Deployment", "namespace": "$NS", "name": "ducks", "jqFilter": ".spec.replicas = 2"}`
	mergePatch        = `{"operation": "MergePatch", "kind": "Deployment", "namespace": "$NS", "name": "ducks", "mergePatch": {"spec": {"replicas": 3}}}`
	mergePatchInText  = "operation: MergePatch\nkind: Deployment\nnamespace: $NS\nname: ducks\nignoreMissingObject: true\nmergePatch: |\n  spec:\n    replicas: 4\n"
	mergePatchMissing = "operation: MergePatch\nkind: Deployment\nnamespace: $NS\nname: swans\nignoreMissingObject: true\nmergePatch: |\n  spec:\n    replicas: 4\n"
	jsonPatch         = `{
  "operation": "JSONPatch", "kind": "Deployment", "namespace": "$NS", "name": "ducks",
  "jsonPatch": [
    {"op": "replace", "path":  "/spec/replicas", "value":  5}
  ]
}`
	// A string with line breaks, which JSON does not allow.
	jsonPatchInText = `{
  "operation": "JSONPatch", "kind": "Deployment", "namespace": "$NS", "name": "ducks",
  "jsonPatch": "[
    {\"op\": \"replace\", \"path\":  \"/spec/replicas\", \"value\":  6}
  ]"
}`
)

func TestOperations_ExamplesOfShellOperator_RunUnchanged(t *testing.T) {
	s := newScene(t)
	s.env.Apply(t, s.ns, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ducks}
spec:
  selector: {matchLabels: {app: ducks}}
  template: {metadata: {labels: {app: ducks}}, spec: {containers: [{name: duck, image: duck}]}}
`)
	for _, example := range []struct {
		name, file string
		want       crud.Outcome
		replicas   int32
	}{
		{"CreateOrUpdate creates", daemonSet, crud.Created, 1},
		{"CreateOrUpdate finds", daemonSet, crud.Unchanged, 1},
		{"Create", configMap, crud.Created, 1},
		{"Create with text", configMapInText, crud.Created, 1},
		{"Delete", deletion, crud.AlreadyAbsent, 1},
		{"DeleteInBackground", deletionInBackground, crud.AlreadyAbsent, 1},
		{"DeleteNonCascading", deletionOrphaning, crud.AlreadyAbsent, 1},
		{"JQPatch", jqPatch, crud.Updated, 2},
		{"MergePatch", mergePatch, crud.Updated, 3},
		{"MergePatch with text", mergePatchInText, crud.Updated, 4},
		{"MergePatch without object", mergePatchMissing, crud.Skipped, 4},
		{"JSONPatch", jsonPatch, crud.Updated, 5},
		{"JSONPatch with text", jsonPatchInText, crud.Updated, 6},
	} {
		results, err := s.client.RunPlan(t.Context(), crud.Plan{Operations: s.parse(example.file)})
		if err != nil || !endedWith(results, example.want) {
			t.Errorf("%s: the outcomes are %s, the error is %v, want %s", example.name, outcomes(results), err, example.want)
		}
		if got := s.deployment("ducks").Spec.Replicas; got == nil || *got != example.replicas {
			t.Errorf("%s: %v replicas, want %d", example.name, got, example.replicas)
		}
	}
	created, err := s.env.Kube.AppsV1().DaemonSets(s.ns).Get(t.Context(), "ducks", metav1.GetOptions{})
	if err != nil || created.Spec.Template.Spec.Containers[0].Args[1] != "--swim" {
		t.Errorf("the DaemonSet is %v, %v", created, err)
	}
	for name, color := range map[string]string{"pond": "green", "lake": "blue"} {
		if got, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), name, metav1.GetOptions{}); err != nil || got.Data["color"] != color {
			t.Errorf("ConfigMap %s is %v, %v", name, got, err)
		}
	}
	if _, err := s.env.Kube.AppsV1().Deployments(s.ns).Get(t.Context(), "swans", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a patch that ignores a missing object: %v", err)
	}
}

func (s *scene) deployment(name string) *appsv1.Deployment {
	s.Helper()
	deployment, err := s.env.Kube.AppsV1().Deployments(s.ns).Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return deployment
}
