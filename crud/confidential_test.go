/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/mallard-dev/mallard/confidential"
)

func TestMisfits_FieldsThatTheKindCannotHold_AreNamedWithTheirTypes(t *testing.T) {
	c := &call{Client: &Client{options: Options{Scheme: scheme.Scheme}}, kind: kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret")}}
	for sent, want := range map[string][]string{
		`{"data":{"a":"YQ==","z":5}}`:                                           {"data.z: must be a text in base64, is a number"},
		`{"data":{"y":"hunter2!","z":true}}`:                                    {"data.y: must be a text in base64, is another text", "data.z: must be a text in base64, is a boolean"},
		`{"data":{"z":{"a":1}}}`:                                                {"data.z: must be a text in base64, is an object"},
		`{"data":"hunter2"}`:                                                    {"data: must be an object, is a text"},
		`{"stringData":{"z":"hunter2","y":7}}`:                                  {"stringData.y: must be a text, is a number"},
		`{"immutable":"hunter2"}`:                                               {"immutable: must be a boolean, is a text"},
		`{"metadata":{"labels":{"a":5},"creationTimestamp":"hunter2"}}`:         {"metadata.creationTimestamp: must be a Time, is a text", "metadata.labels.a: must be a text, is a number"},
		`{"metadata":{"ownerReferences":[{"name":"a"},{"controller":"x"}]}}`:    {"metadata.ownerReferences[1].controller: must be a boolean, is a text"},
		`{"unknown":"hunter2","metadata":{"other":1}}`:                          {"metadata.other: the kind has no such field", "unknown: the kind has no such field"},
		`{"apiVersion":"v1","kind":"Secret","type":"a","data":{"z":null}}`:      nil,
		`{"metadata":{"managedFields":[{"fieldsV1":{"f:data":{}}}]}}`:           nil,
		`{"unknown":null}`:                                                      {"unknown: the kind has no such field"},
		`[{"op":"remove","path":"/stringdata/x"}]`:                              {"stringdata.x: the kind has no such field"},
		`[{"op":"add","path":"/data/z","value":5}]`:                             {"data.z: must be a text in base64, is a number"},
		`[{"op":"add","path":"/metadata/annotations/a.b~1c","value":5}]`:        {"metadata.annotations.a.b/c: must be a text, is a number"},
		`[{"op":"add","path":"/metadata/finalizers/-","value":5}]`:              {"metadata.finalizers.-: must be a text, is a number"},
		`[{"op":"add","path":"/unknown","value":"hunter2"}]`:                    {"unknown: the kind has no such field"},
		`[{"op":"remove","path":"/data/z"},{"op":"test","path":"","value":{}}]`: nil,
		`hunter2`: nil,
	} {
		got := c.misfits([]byte(sent))
		if diff := cmp.Diff(want, got); diff != "" || strings.Contains(strings.Join(got, ""), "hunter2") {
			t.Errorf("%s -want, +got:\n%s", sent, diff)
		}
	}
	c.kind.Kind = "Unknown"
	if got := append(c.misfits([]byte(`{"data":5}`)), c.misfits(nil)...); got != nil {
		t.Errorf("got %q for a kind without Go type", got)
	}
}

func TestT40_Diff_ValueThatMovesToAnotherKeyOfItsSecret_IsAChange(t *testing.T) {
	client := &Client{kinds: &kinds{}}
	after := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {current: the-new-one, previous: the-old-one}}")
	planned := client.planned([]Operation{CreateOrUpdate(after)})
	before := object(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {current: the-old-one, previous: unrelated}}")
	got, err := Change{Before: before, After: after, written: planned.written}.Diff()
	for _, want := range []string{"-  current: '*** (before)'", "+  current: '*** (after)'", "-  previous: '*** (before)'", "+  previous: '*** (after)'"} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("the diff lacks %q: %v\n%s", want, err, got)
		}
	}
}

func TestT40_Diff_ValueThatAnotherOperationWritesIntoASecret_IsMasked(t *testing.T) {
	client := &Client{kinds: &kinds{}}
	planned := client.planned([]Operation{
		CreateOrUpdate(object(t, "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {password: it's-hunter2, short: yes}}")),
	})
	plain := object(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: plain, labels: {short: "yes"}}
data: {url: "https://jane:it's-hunter2@example.com", other: shown}
list: [{password: it's-hunter2}, 5]
`)
	got, err := Change{After: plain, written: planned.written}.Diff()
	if diff := cmp.Diff(`--- /dev/null
+++ v1 ConfigMap plain
@@ -0,0 +1,12 @@
+apiVersion: v1
+data:
+  other: shown
+  url: https://jane:***@example.com
+kind: ConfigMap
+list:
+- password: '***'
+- 5
+metadata:
+  labels:
+    short: "yes"
+  name: plain
`, got); err != nil || diff != "" {
		t.Errorf("%v -want, +got:\n%s", err, diff)
	}
}

func TestT40_Diff_ValuesInOtherFieldsAndOfDeclaredKinds_AreMasked(t *testing.T) {
	secret := object(t, `
apiVersion: v1
kind: Secret
metadata: {name: a, labels: {derived: is-hunter2, pin: "12", plain: shown}, annotations: {hex: 68756e74657232}}
data: {password: aHVudGVyMg==, pin: MTI=}
`)
	vault := object(t, `
apiVersion: example.com/v1
kind: Vault
metadata: {name: a, labels: {plain: shown}}
spec: {size: 5, tokens: [hunter2], nested: {key: true}}
status: {token: hunter2}
`)
	for _, tc := range []struct {
		change Change
		want   string
	}{
		{Change{After: secret}, `--- /dev/null
+++ v1 Secret a
@@ -0,0 +1,13 @@
+apiVersion: v1
+data:
+  password: '***'
+  pin: '***'
+kind: Secret
+metadata:
+  annotations:
+    hex: '***'
+  labels:
+    derived: '***'
+    pin: '***'
+    plain: shown
+  name: a
`},
		{Change{Before: vault, confidential: confidential.Kinds{schema.ParseGroupKind("Vault.example.com")}}, `--- example.com/v1 Vault a
+++ /dev/null
@@ -1,13 +0,0 @@
-apiVersion: example.com/v1
-kind: Vault
-metadata:
-  labels:
-    plain: shown
-  name: a
-spec:
-  nested:
-    key: '***'
-  size: '***'
-  tokens: '***'
-status:
-  token: '***'
`},
	} {
		got, err := tc.change.Diff()
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%v -want, +got:\n%s", err, diff)
		}
	}
}
