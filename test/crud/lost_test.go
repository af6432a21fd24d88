/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// A write of another client between the read and the write must not be remembered as the desired state.
func TestCreateOrUpdate_OtherWritesBetween_IsCorrected(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"a": "1", "b": "1"})), crud.Created)
	op := crud.CreateOrUpdate(s.configMap("a", map[string]string{"a": "1", "b": "2"}))
	held, done := s.beginHeld(op, harness.Matching("patch", "configmaps"))
	s.patch(configMaps, "a", `{"data":{"a":"9"}}`)
	held.Release()
	if after := <-done; after.err != nil || after.result.Attempts != 2 {
		t.Errorf("after %d attempts: %v", after.result.Attempts, after.err)
	}
	s.run(op, crud.Unchanged)
	if value := field(t, s.get(configMaps, "a"), "data", "a"); value != "1" {
		t.Errorf("the value is %v", value)
	}
}

// Another client deletes the object and creates another one of its name between the read and the write.
func TestCreateOrUpdate_ApplyMeetsAnotherObject_IsTriedAgain(t *testing.T) {
	s := newScene(t)
	applied := func(value string) crud.Operation {
		op := crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": value}))
		op.Strategy = crud.Apply
		return op
	}
	s.run(applied("1"), crud.Created)
	s.run(applied("2"), crud.Updated) // it takes over the fields, for which it requires the resourceVersion
	held, done := s.beginHeld(applied("3"), harness.Matching("patch", "configmaps"))
	uid := s.recreate("a")
	held.Release()
	if after := <-done; after.err != nil || after.result.Attempts != 2 || after.result.Object.GetUID() != uid {
		t.Errorf("after %d attempts: %v", after.result.Attempts, after.err)
	}
}

func TestEnsureDeleted_AnswerIsLostAndNameIsCreatedAgain_IsDeleted(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	here := harness.InNamespace(s.ns)
	undo := s.proxy.Lose(harness.Matching("delete", "configmaps").And(here))
	// The second read is that of the second attempt.
	done := s.begin(crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a")))
	harness.Eventually(t, "the name can be created", func(ctx context.Context) error {
		_, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Create(ctx, s.configMap("a", nil), metav1.CreateOptions{})
		return err
	})
	after := <-done
	undo()
	if after.err != nil || after.result.Outcome != crud.Deleted && after.result.Outcome != crud.AlreadyAbsent {
		t.Errorf("got %v, %v", after.result.Outcome, after.err)
	}
	s.get(configMaps, "a")
}

func TestPatch_PreconditionsOfTheOperation_AreSent(t *testing.T) {
	s := newScene(t)
	created := s.run(crud.Create(s.configMap("a", map[string]string{"k": "1"})), crud.Created).Object
	other, old := types.UID("another"), created.GetResourceVersion()
	s.patch(configMaps, "a", `{"data":{"theirs":"1"}}`)
	for name, op := range map[string]crud.Operation{
		"merge": crud.MergePatch(s.ref("ConfigMap", "a"), `{"data":{"k":"2"}}`),
		"json":  crud.JSONPatch(s.ref("ConfigMap", "a"), `[{"op":"replace","path":"/data/k","value":"2"}]`),
		"jq":    crud.JQPatch(s.ref("ConfigMap", "a"), `.data.k = "2"`),
	} {
		op.Preconditions = metav1.Preconditions{UID: &other}
		s.fails(op, crud.Precondition)
		op.Preconditions = metav1.Preconditions{ResourceVersion: &old}
		s.fails(op, crud.Conflict)
		if value := field(t, s.get(configMaps, "a"), "data", "k"); value != "1" {
			t.Errorf("%s: the value is %v", name, value)
		}
	}
	create := crud.Create(s.configMap("b", nil))
	create.Preconditions = metav1.Preconditions{UID: &other}
	s.fails(create, crud.Malformed)
}

func TestRecreate_NewObjectIsInvalid_KeepsTheOldOne(t *testing.T) {
	s := newScene(t)
	deployment := func(selector, image string) crud.Operation {
		op := crud.CreateOrUpdate(s.object(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 0
  selector: {matchLabels: {app: ` + selector + `}}
  template: {metadata: {labels: {app: ` + selector + `}}, spec: {containers: [{name: c, image: "` + image + `"}]}}`))
		op.OnImmutable, op.Wait = crud.Recreate, harness.Deadline
		return op
	}
	before := s.run(deployment("a", "i"), crud.Created).Object.GetUID()
	s.fails(deployment("b", ""), crud.Invalid)
	if uid := s.get(deployments, "a").GetUID(); uid != before {
		t.Error("the object was deleted")
	}
	if after := s.run(deployment("b", "i"), crud.Replaced).Object.GetUID(); after == before {
		t.Error("the object was not replaced")
	}
}

func TestRecreate_CreateFailsOnce_IsTriedAgain(t *testing.T) {
	s := newScene(t)
	yes := true
	desired := func(value string) crud.Operation {
		configMap := s.configMap("a", map[string]string{"k": value})
		configMap.Immutable = &yes
		return crud.CreateOrUpdate(configMap)
	}
	created := s.run(desired("1"), crud.Created).Object
	op, uid := desired("2"), created.GetUID()
	op.OnImmutable, op.Wait, op.Preconditions.UID = crud.Recreate, harness.Deadline, &uid
	dryRun, done := s.beginHeld(op, harness.Matching("create", "configmaps"))
	deletion := s.proxy.Hold(harness.Matching("delete", "configmaps").And(harness.InNamespace(s.ns)))
	dryRun.Release()
	deletion.Wait(t)
	s.proxy.FailOnce(harness.Matching("create", "configmaps").And(harness.InNamespace(s.ns)), http.StatusServiceUnavailable)
	deletion.Release()
	if after := <-done; after.err != nil {
		t.Error(after.err)
	}
	if value := field(t, s.get(configMaps, "a"), "data", "k"); value != "2" {
		t.Errorf("the value is %v", value)
	}
}

func TestCreateOrUpdate_GoValues_AreNormalized(t *testing.T) {
	s := newScene(t)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "a", "namespace": s.ns},
		"spec": map[string]any{"size": 3, "list": []string{"a"}},
	}}
	s.run(crud.CreateOrUpdate(object), crud.Created)
	s.run(crud.CreateOrUpdate(object), crud.Unchanged)
	s.run(crud.FilterPatch(s.ref("Widget", "a"), func(object *unstructured.Unstructured) error {
		object.Object["spec"].(map[string]any)["size"] = 3
		return nil
	}), crud.Unchanged)
	message := s.fails(crud.FilterPatch(s.ref("Widget", "a"), func(crud.Object) error { return nil }), crud.Malformed)
	t.Log(message)
}

func TestCreateOrUpdate_FieldThatIsNilInGo_StaysAsItIs(t *testing.T) {
	s := newScene(t)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "crud-" + s.ns}, Rules: []rbacv1.PolicyRule{{
		Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"},
	}}}
	s.run(crud.CreateOrUpdate(role), crud.Created)
	t.Cleanup(func() {
		if err := s.env.Kube.RbacV1().ClusterRoles().Delete(context.WithoutCancel(t.Context()), role.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	role.Rules, role.Labels = nil, map[string]string{"l": "1"}
	after := s.run(crud.CreateOrUpdate(role), crud.Updated).Object
	if rules := field(t, after, "rules"); rules == nil {
		t.Error("the rules were removed")
	}
}

func TestCreateOrUpdate_StringData_IsNoDifference(t *testing.T) {
	s := newScene(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "a"}, StringData: map[string]string{"k": harness.Canary(t)}}
	if result := s.run(crud.CreateOrUpdate(secret), crud.Created); len(result.Warnings) != 0 {
		t.Errorf("the warnings are %q", result.Warnings)
	}
	s.patch(corev1.SchemeGroupVersion.WithResource("secrets"), "a", `{"metadata":{"labels":{"l":"1"}}}`)
	s.sent()
	s.run(crud.CreateOrUpdate(secret), crud.Unchanged)
	s.expectSent(1, 0)
}
