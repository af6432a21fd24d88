/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

var (
	secrets  = corev1.SchemeGroupVersion.WithResource("secrets")
	services = corev1.SchemeGroupVersion.WithResource("services")
)

func TestT40_Preview_FiveObjects_HasADiffOfEachAndChangesNothing(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.object(`{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {password: "`+harness.Canary(t)+`"}}`)), crud.Created)
	s.run(crud.Create(s.object(`{apiVersion: crud.example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 1}}`)), crud.Created)
	s.run(crud.Create(s.configMap("a", map[string]string{"k": "1"})), crud.Created)
	s.run(crud.Create(s.configMap("b", map[string]string{"k": "1"})), crud.Created)
	s.run(crud.Create(s.object(`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}`)), crud.Created)
	versions := func() string {
		var all strings.Builder
		for _, resource := range []schema.GroupVersionResource{secrets, widgets, configMaps, services} {
			list, err := s.env.Dynamic.Resource(resource).Namespace(s.ns).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range list.Items {
				if item.GetName() != "kube-root-ca.crt" { // which the control plane creates at any time
					fmt.Fprintln(&all, item.GetKind(), item.GetName(), item.GetResourceVersion())
				}
			}
		}
		return all.String()
	}
	before := versions()
	changes := s.client.Preview(t.Context(), s.parse(`
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: a}, stringData: {password: "`+harness.Canary(t)+`"}}
---
{operationType: JQPatch, kind: Widget, namespace: $NS, name: a, spec: .spec.size = 2}
---
{operationType: EnsureDeleted, kind: ConfigMap, namespace: $NS, name: a}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: c}, data: {k: "3"}}
---
{operationType: MergePatch, kind: Service, namespace: $NS, name: a, spec: {spec: {ports: [{port: 81}]}}}
---
{operationType: MergePatch, kind: ConfigMap, namespace: $NS, name: c, spec: {data: {k: "4"}}}
---
{operationType: MergePatch, kind: ConfigMap, namespace: $NS, name: b, spec: {data: {k: "1"}}}
`))
	if after := versions(); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
	for i, want := range []struct {
		outcome crud.Outcome
		lines   string
	}{
		{crud.Updated, "-  password: '*** (before)'\n+  password: '*** (after)'"},
		{crud.Updated, "-  size: 1\n+  size: 2"},
		{crud.Deleting, "-  k: \"1\""},
		{crud.Created, "+  k: \"3\""},
		{crud.Updated, "-  - port: 80\n+  - port: 81"},
		{crud.NotRun, ""},
		{crud.Updated, ""},
	} {
		diff, err := changes[i].Diff()
		if err != nil || changes[i].Err != nil || changes[i].Result.Outcome != want.outcome {
			t.Errorf("operation %d ended with %s, %v, %v", i+1, changes[i].Result.Outcome, changes[i].Err, err)
		}
		changed := onlyChanges(diff)
		if !strings.Contains(changed, want.lines) || (want.lines == "") != (diff == "") || strings.Contains(diff, "managedFields") {
			t.Errorf("operation %d has the diff\n%s", i+1, diff)
		}
	}
}

// onlyChanges returns the lines of a diff that were removed or added.
func onlyChanges(diff string) string {
	var changes []string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			changes = append(changes, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(changes, "\n")
}

func TestT40_Preview_OperationOnASecretFails_TheErrorHasNoValue(t *testing.T) {
	s := newScene(t)
	value := harness.Canary(t)
	s.run(crud.Create(s.object(fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: a}, immutable: true, stringData: {password: %q}}`, value))), crud.Created)
	changes := s.client.Preview(t.Context(), s.parse(strings.ReplaceAll(`
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: a}, stringData: {password: "$VALUE again"}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: b}, data: {password: "$VALUE"}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: c}, stringData: {password: 471147, other: "$VALUE"}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: d}, stringData: {unknown key: "$VALUE"}}
`, "$VALUE", value)))
	for i, class := range []crud.Class{crud.Immutable, crud.Invalid, crud.Invalid, crud.Invalid} {
		err := changes[i].Err
		if crud.ClassOf(err) != class || harness.Leaked(err.Error(), value) != "" || strings.Contains(err.Error(), "471147") || changes[i].Result.Outcome != crud.Failed {
			t.Errorf("operation %d: got %v, want the class %s and no value", i+1, err, class)
		}
		if diff, err := changes[i].Diff(); diff != "" || err != nil {
			t.Errorf("operation %d: got the diff %s, %v", i+1, diff, err)
		}
	}
}
