/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// newClient returns another client with the same configuration, as a new process has.
func (s *scene) newClient(steps int) *crud.Client {
	s.Helper()
	backoff := quickBackoff(5 * time.Millisecond)
	backoff.Steps = steps
	client, err := crud.New(s.config, crud.Options{FieldManager: "crud-test", Backoff: backoff})
	if err != nil {
		s.Fatal(err)
	}
	return client
}

// runTask runs operations as a task, with a new client, and expects the outcomes.
func (s *scene) runTask(task, file string, want ...crud.Outcome) []crud.Result {
	s.Helper()
	results, err := s.newClient(5).RunPlan(s.Context(), crud.Plan{Task: task, Operations: s.parse(file)})
	if err != nil || !endedWith(results, want...) {
		s.Fatalf("the outcomes are %s, want %s, the error is %v", outcomes(results), want, err)
	}
	return results
}

// loseAnswers runs operations as a task in a process that ends when the answer to a request of the verb is lost.
func (s *scene) loseAnswers(verb, resource, task, file string) {
	s.Helper()
	undo := s.proxy.Lose(harness.Matching(verb, resource).And(harness.InNamespace(s.ns)))
	defer undo()
	_, err := s.newClient(1).RunPlan(s.Context(), crud.Plan{Task: task, SkipPreflight: true, Operations: s.parse(file)})
	if err == nil || !strings.Contains(err.Error(), string(crud.Uncertain)) {
		s.Fatalf("no answer arrived, and the error is %v", err)
	}
}

func TestT13_Create_TaskIsRepeated_CreatesOneObject(t *testing.T) {
	s := newScene(t)
	const generated = `
operationType: Create
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, generateName: g-, labels: {case: t13}}, data: {k: "1"}}
`
	s.loseAnswers("create", "configmaps", "first", generated)
	name := s.runTask("first", generated, crud.Replayed)[0].Object.GetName()
	list, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).List(t.Context(), metav1.ListOptions{LabelSelector: "case=t13"})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != name || !strings.HasPrefix(name, "g-") {
		t.Errorf("the result names %s, and the objects are %v, %v", name, list, err)
	}
	if other := s.runTask("second", generated, crud.Created)[0].Object.GetName(); other == name {
		t.Errorf("another task created %s, too", other)
	}

	named := strings.ReplaceAll(generated, "generateName: g-", "name: named")
	s.loseAnswers("create", "configmaps", "first", named)
	s.runTask("first", named, crud.Replayed)
	_, err = s.newClient(5).RunPlan(t.Context(), crud.Plan{Task: "second", Operations: s.parse(named)})
	if err == nil || !strings.Contains(err.Error(), string(crud.AlreadyExists)) {
		t.Errorf("another task: %v", err)
	}

	s.sent()
	op := crud.CreateOrUpdate(s.configMap("", nil))
	op.Object.SetGenerateName("g-")
	s.fails(op, crud.Malformed)
	s.expectSent(0, 0)
}

func TestT25_JSONPatch_TaskIsRepeated_AppendsOnce(t *testing.T) {
	s := newScene(t)
	s.create("Widget", "a")
	s.run(crud.MergePatch(s.ref("Widget", "a"), `{"spec":{"list":["first"]}}`), crud.Updated)
	const patch = `--- {operationType: JSONPatch, kind: Widget, namespace: $NS, name: a, spec: [{op: add, path: /spec/list/-, value: second}]}`
	s.loseAnswers("patch", "widgets", "first", patch)
	for range 2 {
		s.runTask("first", patch, crud.Replayed)
	}
	if list := fmt.Sprint(field(t, s.get(widgets, "a"), "spec", "list")); list != "[first second]" {
		t.Errorf("the list is %s", list)
	}
	s.runTask("second", patch, crud.Updated)
	if list := fmt.Sprint(field(t, s.get(widgets, "a"), "spec", "list")); list != "[first second second]" {
		t.Errorf("after another task, the list is %s", list)
	}
}

// Within one run, an answer that is lost is found by the id.
func TestT25_JSONPatch_AnswerIsLostOnce_Succeeds(t *testing.T) {
	s := newScene(t)
	s.create("Widget", "a")
	s.patch(widgets, "a", `{"spec":{"list":["first"]}}`)
	here := harness.Matching("patch", "widgets").And(harness.InNamespace(s.ns))
	patches := s.proxy.Count(here)
	undo := s.proxy.Lose(here)
	op := crud.JSONPatch(s.ref("Widget", "a"), `[{"op":"add","path":"/spec/list/-","value":"second"}]`)
	op.ID = "by-hand"
	s.run(op, crud.Replayed)
	undo()
	if list := fmt.Sprint(field(t, s.get(widgets, "a"), "spec", "list")); list != "[first second]" || patches() != 1 {
		t.Errorf("after %d patches, the list is %s", patches(), list)
	}
}

func TestPlan_Task_OnlyOperationsThatAreNotRepeatableGetAnID(t *testing.T) {
	s := newScene(t)
	s.create("Widget", "a")
	const file = `---
{operationType: JQPatch, kind: Widget, namespace: $NS, name: a, spec: .spec.size = 2}
---
{operationType: JSONPatch, kind: Widget, namespace: $NS, name: a, spec: [{op: replace, path: /spec/size, value: 3}]}
---
{operationType: JQPatch, kind: Widget, namespace: $NS, name: a, spec: .spec.size += 1}
`
	s.runTask("first", file, crud.Updated, crud.Updated, crud.Updated)
	if ids := strings.Fields(s.get(widgets, "a").GetAnnotations()["crud.mallard.dev/operations"]); len(ids) != 1 {
		t.Errorf("the ids are %q, want one", ids)
	}
	s.runTask("first", file, crud.Updated, crud.Updated, crud.Replayed)
	id := crud.MergePatch(s.ref("Widget", "a"), "{}")
	id.ID = "x"
	s.fails(id, crud.Malformed)
	status := onStatus(crud.JSONPatch(s.ref("Widget", "a"), `[{"op":"add","path":"/status","value":{}}]`))
	status.ID = "x"
	s.fails(status, crud.Malformed)
}

func TestPlan_ManyPatchesOfOneObject_NoneIsForgotten(t *testing.T) {
	s := newScene(t)
	s.create("Widget", "a")
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	var repeatable, appending []crud.Operation
	for i := range 65 {
		repeatable = append(repeatable, crud.JQPatch(s.ref("ConfigMap", "a"), fmt.Sprintf(`.data.k%d = "1"`, i)))
		appending = append(appending, crud.JQPatch(s.ref("Widget", "a"), `.spec.size += 1`))
	}
	if _, err := s.newClient(5).RunPlan(t.Context(), crud.Plan{Task: "first", Operations: repeatable}); err != nil {
		t.Error(err)
	}
	// Whether a program is repeatable is known when it runs.
	for range 2 {
		if _, err := s.newClient(5).RunPlan(t.Context(), crud.Plan{Task: "second", Operations: appending}); err != nil {
			t.Error(err)
		}
	}
	if size := field(t, s.get(widgets, "a"), "spec", "size"); size != int64(66) {
		t.Errorf("65 operations added 1 to 1, and the result is %v", size)
	}
}
