/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestT01_CreateOrUpdate_Absent_IsCreatedWithoutItsStatus(t *testing.T) {
	s := newScene(t)
	op := crud.CreateOrUpdate(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "a"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		Status: corev1.ServiceStatus{Conditions: []metav1.Condition{{Type: "Sent", Status: "True"}}},
	})
	client, bodies := s.noted(http.MethodPost)
	result, err := client.Run(t.Context(), op)
	if err != nil || result.Outcome != crud.Created {
		t.Fatalf("the outcome is %s: %v", result.Outcome, err)
	}
	s.expectSent(1, 1)
	var sent map[string]any
	if err := json.Unmarshal([]byte(<-bodies), &sent); err != nil || sent["kind"] != "Service" || sent["status"] != nil {
		t.Errorf("the request is %v, %v", sent, err)
	}
	if result.Object.GetUID() == "" || result.Object.GetResourceVersion() == "" {
		t.Errorf("the result has no UID or resourceVersion: %v", result.Object.Object["metadata"])
	}
	if len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "status is not written") {
		t.Errorf("the warnings are %q, want one about the status", result.Warnings)
	}
}

func TestT02_CreateOrUpdate_Same_WritesNothing(t *testing.T) {
	s := newScene(t)
	op := crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": "v"}))
	before := s.run(op, crud.Created)
	s.sent()
	for range 100 {
		if after := s.run(op, crud.Unchanged); after.Object.GetResourceVersion() != before.Object.GetResourceVersion() {
			t.Fatal("the resourceVersion changed")
		}
	}
	s.expectSent(100, 0)
}

func TestT03_CreateOrUpdate_FieldsOfOthers_Stay(t *testing.T) {
	s := newScene(t)
	owner := s.run(crud.CreateOrUpdate(s.configMap("owner", nil)), crud.Created).Object
	s.run(crud.CreateOrUpdate(s.configMap("a", map[string]string{"mine": "1"})), crud.Created)
	s.patch(configMaps, "a", fmt.Sprintf(`{"metadata":{"labels":{"l":"1"},"annotations":{"a":"1"},"finalizers":["example.com/theirs"],
		"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q}]},"data":{"theirs":"1"}}`, owner.GetUID()))
	changed := s.configMap("a", map[string]string{"mine": "2"})
	changed.Finalizers = []string{"example.com/mine"}
	after := s.run(crud.CreateOrUpdate(changed), crud.Updated).Object
	t.Cleanup(func() { s.patch(configMaps, "a", `{"metadata":{"finalizers":null}}`) })
	if after.GetLabels()["l"] != "1" || after.GetAnnotations()["a"] != "1" || len(after.GetOwnerReferences()) != 1 {
		t.Errorf("metadata of others was removed: %v", after.Object["metadata"])
	}
	if want := []string{"example.com/theirs", "example.com/mine"}; !slices.Equal(after.GetFinalizers(), want) {
		t.Errorf("the finalizers are %q, want %q", after.GetFinalizers(), want)
	}
	if field(t, after, "data", "mine") != "2" || field(t, after, "data", "theirs") != "1" {
		t.Errorf("the data is %v", after.Object["data"])
	}
}

func TestT04_CreateOrUpdate_DefaultsOfTheServer_AreNoDifference(t *testing.T) {
	s := newScene(t)
	op := crud.CreateOrUpdate(s.object(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {app: a}}
  replicas: 0
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: example.com/i, resources: {requests: {cpu: 1000m}}}]}`))
	s.run(op, crud.Created)
	s.sent()
	// The client has not seen the state that another client wrote, and the defaults of the server are no part of the desired state.
	s.patch(deployments, "a", `{"metadata":{"labels":{"theirs":"1"}}}`)
	for range 50 {
		s.run(op, crud.Unchanged)
	}
	if reads, writes := s.sent(); reads != 50 || writes > 1 {
		t.Errorf("sent %d reads and %d writes, want 50 and at most 1", reads, writes)
	}
	if generation := s.get(deployments, "a").GetGeneration(); generation != 1 {
		t.Errorf("the generation is %d, want 1", generation)
	}
}

func TestT05_CreateOrUpdate_Null_RemovesTheField(t *testing.T) {
	s := newScene(t)
	withNull := func(name string) crud.Operation {
		object := s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `}, data: {a: "1"}}`)
		object.Object["data"].(map[string]any)["b"] = nil
		return crud.CreateOrUpdate(object)
	}
	s.run(crud.CreateOrUpdate(s.configMap("a", map[string]string{"a": "1", "b": "1", "c": "1"})), crud.Created)
	data := s.run(withNull("a"), crud.Updated).Object.Object["data"]
	if want := map[string]any{"a": "1", "c": "1"}; fmt.Sprint(data) != fmt.Sprint(want) {
		t.Errorf("the data is %v, want %v", data, want)
	}
	s.run(withNull("a"), crud.Unchanged)
	data = s.run(withNull("b"), crud.Created).Object.Object["data"]
	if want := map[string]any{"a": "1"}; fmt.Sprint(data) != fmt.Sprint(want) {
		t.Errorf("the data of the object that did not exist is %v, want %v", data, want)
	}
}

func TestT06_CreateOrUpdate_Status_IsNeverWritten(t *testing.T) {
	s := newScene(t)
	for resource, kind := range map[schema.GroupVersionResource]string{widgets: "Widget", gadgets: "Gadget"} {
		desired := s.object(`{apiVersion: ` + group + `/v1, kind: ` + kind + `, metadata: {name: a}, spec: {size: 1}}`)
		s.run(crud.CreateOrUpdate(desired), crud.Created)
		if kind == "Widget" {
			s.patch(resource, "a", `{"status":{"phase":"theirs"}}`, "status")
		} else {
			s.patch(resource, "a", `{"status":{"phase":"theirs"}}`)
		}
		desired.Object["spec"] = map[string]any{"size": int64(2)}
		s.run(crud.CreateOrUpdate(desired), crud.Updated)
		desired.Object["status"] = map[string]any{"phase": "mine"}
		result := s.run(crud.CreateOrUpdate(desired), crud.Unchanged)
		if phase := field(t, s.get(resource, "a"), "status", "phase"); phase != "theirs" {
			t.Errorf("the status of %s is %v", kind, phase)
		}
		if len(result.Warnings) == 0 {
			t.Error("nothing warns that the status is not written")
		}
	}
}

func TestT07_CreateOrUpdate_Races_Converge(t *testing.T) {
	s := newScene(t)
	other := s.env.Kube.CoreV1().ConfigMaps(s.ns)
	held, done := s.beginHeld(crud.CreateOrUpdate(s.configMap("created", map[string]string{"mine": "1"})), harness.Matching("create", "configmaps"))
	if _, err := other.Create(t.Context(), s.configMap("created", map[string]string{"theirs": "1"}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	held.Release()
	if after := <-done; after.err != nil || after.result.Outcome != crud.Updated {
		t.Errorf("another client created the object first: %v, %v", after.result.Outcome, after.err)
	}
	if data := s.get(configMaps, "created").Object["data"]; fmt.Sprint(data) != "map[mine:1 theirs:1]" {
		t.Errorf("the data is %v", data)
	}

	s.run(crud.Create(s.configMap("deleted", nil)), crud.Created)
	held, done = s.beginHeld(crud.CreateOrUpdate(s.configMap("deleted", map[string]string{"mine": "1"})), harness.Matching("patch", "configmaps"))
	if err := other.Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	held.Release()
	if after := <-done; after.err != nil || after.result.Outcome != crud.Created {
		t.Errorf("another client deleted the object between: %v, %v", after.result.Outcome, after.err)
	}
}

func TestT08_CreateOrUpdate_ObjectAsItWasRead_IsAPrecondition(t *testing.T) {
	s := newScene(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "a"}, Data: map[string][]byte{"k": []byte(harness.Canary(t))}}
	read := s.run(crud.CreateOrUpdate(secret), crud.Created).Object
	handBack := func(value string) crud.Operation {
		changed := read.DeepCopy()
		changed.Object["data"].(map[string]any)["k"] = value
		return crud.CreateOrUpdate(changed)
	}
	s.run(handBack("Mg=="), crud.Updated)
	s.fails(handBack("Mw=="), crud.Conflict)
	if value := field(t, s.get(corev1.SchemeGroupVersion.WithResource("secrets"), "a"), "data", "k"); value != "Mg==" {
		t.Errorf("the value is %v", value)
	}
	if err := s.env.Kube.CoreV1().Secrets(s.ns).Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.sent()
	s.fails(handBack("Mw=="), crud.NotFound)
	s.expectSent(1, 0)
	s.run(crud.CreateOrUpdate(secret), crud.Created)
	s.fails(handBack("Mw=="), crud.Precondition)
}

func TestT09_CreateOrUpdate_LargeIntegers_AreExact(t *testing.T) {
	s := newScene(t)
	const size = int64(9007199254740993)
	desired := s.object(`{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: a}, spec: {size: 3}}`)
	s.run(crud.CreateOrUpdate(desired), crud.Created)
	desired = s.object(`{"apiVersion":"` + group + `/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":9007199254740993}}`)
	s.run(crud.CreateOrUpdate(desired), crud.Updated)
	if got := field(t, s.get(widgets, "a"), "spec", "size"); got != size {
		t.Errorf("the API server stored %v, want %v", got, size)
	}
	s.run(crud.JQPatch(s.ref("Widget", "a"), ".spec.list = [\"x\"]"), crud.Updated)
	if got := field(t, s.get(widgets, "a"), "spec", "size"); got != size {
		t.Errorf("after a jq program that does not change it, the API server stores %v, want %v", got, size)
	}
}

func TestT10_CreateOrUpdate_Terminating_IsNoSuccess(t *testing.T) {
	s := newScene(t)
	desired := s.configMap("a", map[string]string{"k": "1"})
	created := s.run(crud.CreateOrUpdate(desired), crud.Created).Object
	s.patch(configMaps, "a", `{"metadata":{"finalizers":["example.com/theirs"]}}`)
	if err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, op := range []crud.Operation{crud.CreateOrUpdate(desired), crud.CreateIfNotExists(desired)} {
		if message := s.fails(op, crud.Terminating); !strings.Contains(message, "example.com/theirs") {
			t.Errorf("the message does not name the finalizer: %s", message)
		}
	}
	waiting := crud.CreateOrUpdate(desired)
	waiting.Wait = harness.Deadline
	done := s.begin(waiting)
	s.patch(configMaps, "a", `{"metadata":{"finalizers":null}}`)
	after := <-done
	if after.err != nil || after.result.Object.GetUID() == created.GetUID() {
		t.Errorf("after the finalizer was removed: %v, %v", after.result.Outcome, after.err)
	}
	s.run(crud.CreateOrUpdate(desired), crud.Unchanged)
}

func TestT10_CreateIfNotExists_Terminating_CreatesOnceTheFinalizerIsRemoved(t *testing.T) {
	s := newScene(t)
	op := crud.CreateIfNotExists(s.configMap("a", map[string]string{"k": "1"}))
	created := s.run(op, crud.Created).Object
	s.patch(configMaps, "a", `{"metadata":{"finalizers":["example.com/theirs"]}}`)
	s.remove("a")
	s.fails(op, crud.Terminating)
	s.patch(configMaps, "a", `{"metadata":{"finalizers":null}}`)
	if again := s.run(op, crud.Created).Object; again.GetUID() == created.GetUID() {
		t.Errorf("the UID is that of the object that was deleted: %s", again.GetUID())
	}
	s.run(op, crud.Unchanged)
}

func TestT11_CreateOrUpdate_ImmutableField_FailsOrRecreates(t *testing.T) {
	s := newScene(t)
	desired := func(value string) crud.Operation {
		configMap := s.configMap("a", map[string]string{"k": value})
		yes := true
		configMap.Immutable = &yes
		return crud.CreateOrUpdate(configMap)
	}
	before := s.run(desired("1"), crud.Created).Object
	if message := s.fails(desired("2"), crud.Immutable); !strings.Contains(message, "data") {
		t.Errorf("the message does not name the field: %s", message)
	}
	if uid := s.get(configMaps, "a").GetUID(); uid != before.GetUID() {
		t.Error("the object was created again")
	}
	op := desired("2")
	op.OnImmutable, op.Wait = crud.Recreate, harness.Deadline
	after := s.run(op, crud.Replaced).Object
	if after.GetUID() == before.GetUID() || field(t, after, "data", "k") != "2" {
		t.Errorf("the object was not replaced: %v", after.Object)
	}
}

// Another client replaces the object after it was read. The new object is not the one that the operation replaces, so that it stays.
func TestT11_CreateOrUpdate_Recreate_DeletesOnlyTheObjectThatItRead(t *testing.T) {
	s := newScene(t)
	configMap := s.configMap("a", map[string]string{"k": "1"})
	configMap.Immutable = new(true)
	read := s.run(crud.Create(configMap), crud.Created).Object
	configMap.Data = map[string]string{"k": "2"}
	op := crud.CreateOrUpdate(configMap)
	op.OnImmutable, op.Wait = crud.Recreate, harness.Deadline
	var bodies <-chan string
	s.client, bodies = s.noted(http.MethodDelete)
	held, done := s.beginHeld(op, harness.Matching("delete", "configmaps"))
	second := s.recreate("a")
	held.Release()
	after := <-done
	if want := fmt.Sprintf(`"preconditions":{"uid":%q`, read.GetUID()); !strings.Contains(<-bodies, want) {
		t.Errorf("the deletion lacks %s", want)
	}
	if after.err != nil || after.result.Outcome != crud.Updated || after.result.Object.GetUID() != second {
		t.Errorf("the object of the other client was not updated: %v, %v", after.result.Outcome, after.err)
	}
}

func TestT12_Create_Exists_IsAnError(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"k": "1"})), crud.Created)
	before := s.get(configMaps, "a")
	s.fails(crud.Create(s.configMap("a", map[string]string{"k": "2"})), crud.AlreadyExists)
	s.run(crud.CreateIfNotExists(s.configMap("a", map[string]string{"k": "2"})), crud.Unchanged)
	if after := s.get(configMaps, "a"); fmt.Sprint(after.Object) != fmt.Sprint(before.Object) {
		t.Errorf("the object changed from %v to %v", before.Object, after.Object)
	}
	s.run(crud.CreateIfNotExists(s.configMap("b", nil)), crud.Created)
}

func TestCreateOrUpdate_Apply_LeavesFieldsOfOthersAndTakesOverItsOwn(t *testing.T) {
	s := newScene(t)
	desired := func(parts string) crud.Operation {
		return crud.CreateOrUpdate(s.object(`{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: a}, spec: {size: 1, parts: ` + parts + `}}`))
	}
	applied := func(parts string) crud.Operation {
		op := desired(parts)
		op.Strategy = crud.Apply
		return op
	}
	s.run(desired("[{name: mine, size: 1}, {name: also, size: 1}]"), crud.Created)
	s.patch(widgets, "a", `{"spec":{"parts":[{"name":"mine","size":1},{"name":"also","size":1},{"name":"theirs","size":1}]}}`)
	s.run(applied("[{name: mine, size: 2}]"), crud.Updated)
	s.run(applied("[{name: mine, size: 2}]"), crud.Unchanged)
	names := partNames(t, s.get(widgets, "a"))
	if !slices.Contains(names, "mine") || !slices.Contains(names, "theirs") {
		t.Errorf("the parts are %q, want those of both clients", names)
	}
	s.patch(widgets, "a", `{"spec":{"size":7}}`)
	if message := s.fails(applied("[{name: mine, size: 2}]"), crud.OwnershipConflict); !strings.Contains(message, "spec.size") || !strings.Contains(message, "other") {
		t.Errorf("the message names neither the field nor the manager: %s", message)
	}
}

func partNames(t testing.TB, object *unstructured.Unstructured) (names []string) {
	t.Helper()
	for _, part := range field(t, object, "spec", "parts").([]any) {
		names = append(names, part.(map[string]any)["name"].(string))
	}
	return names
}

func TestCreateOrUpdate_OtherController_IsRejected(t *testing.T) {
	s := newScene(t)
	owner := s.run(crud.Create(s.configMap("owner", nil)), crud.Created).Object
	owned := s.configMap("a", nil)
	owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	s.run(crud.Create(owned), crud.Created)
	op := crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": "1"}))
	op.OwnedBy = "another"
	if message := s.fails(op, crud.OwnershipConflict); !strings.Contains(message, "ConfigMap owner") {
		t.Errorf("the message does not name the owner: %s", message)
	}
	op.OwnedBy = owner.GetUID()
	s.run(op, crud.Updated)

	s.run(crud.Create(s.configMap("free", nil)), crud.Created)
	upsert, remove := crud.CreateOrUpdate(s.configMap("free", map[string]string{"k": "1"})), crud.EnsureDeleted(s.ref("ConfigMap", "free"))
	adopts := s.configMap("free", nil)
	adopts.OwnerReferences = owned.OwnerReferences
	for _, op := range []crud.Operation{upsert, crud.CreateOrUpdate(adopts), crud.JQPatch(remove.Ref, `.data.k = "1"`), remove} {
		op.OwnedBy = owner.GetUID()
		if message := s.fails(op, crud.OwnershipConflict); !strings.Contains(message, "no controller") {
			t.Errorf("the message does not name the reason: %s", message)
		}
	}
	// The next run would not change what it has created.
	s.remove("free")
	upsert.OwnedBy = owner.GetUID()
	s.fails(upsert, crud.OwnershipConflict)
	upsert.Object = adopts
	s.run(upsert, crud.Created)
	s.run(upsert, crud.Unchanged)
}

func TestCreateOrUpdate_WriteFails_IsTriedAgainOrReported(t *testing.T) {
	s := newScene(t, quick)
	op := crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": "1"}))
	here := harness.InNamespace(s.ns)
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusInternalServerError} {
		undo := s.proxy.Fail(harness.Matching("create", "configmaps").And(here), status)
		s.sent()
		if message := s.fails(op, crud.Uncertain); !strings.Contains(message, "creating the object") {
			t.Errorf("the message is %s", message)
		}
		s.expectSent(5, 5)
		// It may have been executed, so that it is not sent again.
		generated := crud.Create(s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}`))
		s.fails(generated, crud.Uncertain)
		if _, writes := s.sent(); writes != 1 {
			t.Errorf("after %d, Create was sent %d times", status, writes)
		}
		undo()
	}
	s.proxy.FailOnce(harness.Matching("create", "configmaps").And(here), http.StatusServiceUnavailable)
	s.run(op, crud.Created)
	s.proxy.Fail(harness.Matching("patch", "configmaps").And(here), http.StatusForbidden)
	s.sent()
	s.fails(crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": "2"})), crud.Forbidden)
	s.expectSent(1, 1)
}
