/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestT40_Diff_SecretValues_AreMasked(t *testing.T) {
	before := object(t, `
apiVersion: v1
kind: Secret
metadata:
  name: a
  resourceVersion: "1"
  creationTimestamp: "2026-01-01T00:00:00Z"
  managedFields: [{manager: m}]
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"data":{"changed":"hidden1"}}'
    other: shown
data: {changed: hidden1, removed: hidden2, same: hidden3}
type: Opaque
`)
	after := object(t, `
apiVersion: v1
kind: Secret
metadata:
  name: a
  resourceVersion: "2"
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"data":{"changed":"hidden4"}}'
    other: shown too
data: {changed: hidden4, added: hidden5, same: hidden3}
type: Opaque
`)
	const updated = `--- v1 Secret a
+++ v1 Secret a
@@ -1,12 +1,12 @@
 apiVersion: v1
 data:
-  changed: '*** (before)'
-  removed: '***'
+  added: '***'
+  changed: '*** (after)'
   same: '***'
 kind: Secret
 metadata:
   annotations:
-    kubectl.kubernetes.io/last-applied-configuration: '*** (before)'
-    other: shown
+    kubectl.kubernetes.io/last-applied-configuration: '*** (after)'
+    other: shown too
   name: a
 type: Opaque
`
	const created = `--- /dev/null
+++ v1 Secret a
@@ -0,0 +1,12 @@
+apiVersion: v1
+data:
+  added: '***'
+  changed: '***'
+  same: '***'
+kind: Secret
+metadata:
+  annotations:
+    kubectl.kubernetes.io/last-applied-configuration: '***'
+    other: shown too
+  name: a
+type: Opaque
`
	for _, tc := range []struct {
		change Change
		want   string
	}{
		{Change{Before: before, After: after}, updated},
		{Change{After: after}, created},
		{Change{Before: after, After: after}, ""},
		{Change{}, ""},
	} {
		got, err := tc.change.Diff()
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%v -want, +got:\n%s", err, diff)
		}
	}
	if value := before.Object["data"].(map[string]any)["changed"]; value != "hidden1" {
		t.Errorf("the object was changed: %v", value)
	}
}
