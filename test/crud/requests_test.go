/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestRequests_EachOperation_SendsNoMoreThanItNeeds(t *testing.T) {
	s := newScene(t)
	configMap := s.ref("ConfigMap", "a")
	snapshot := s.run(crud.Create(s.configMap("a", map[string]string{"k": "1"})), crud.Created).Object
	s.run(crud.Create(s.configMap("deleted", nil)), crud.Created)
	withID := func(op crud.Operation) crud.Operation {
		op.ID = "id"
		return op
	}
	s.sent()
	// In this order, since an operation finds what those before it wrote.
	for _, tc := range []struct {
		name          string
		op            crud.Operation
		outcome       crud.Outcome
		reads, writes int
	}{
		{"optimistic", crud.FilterPatchOptimistic(snapshot, func(*unstructured.Unstructured) error { return nil }), crud.Unchanged, 0, 0},
		{"optimistic, changed", crud.FilterPatchOptimistic(snapshot, func(object *unstructured.Unstructured) error {
			return unstructured.SetNestedField(object.Object, "2", "data", "k")
		}), crud.Updated, 0, 1},
		{"upsert of an absent object", crud.CreateOrUpdate(s.configMap("new", nil)), crud.Created, 1, 1},
		{"upsert", crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": "3"})), crud.Updated, 1, 1},
		{"upsert, unchanged", crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": "3"})), crud.Unchanged, 1, 0},
		{"create", crud.Create(s.configMap("created", nil)), crud.Created, 0, 1},
		{"create with an id", withID(crud.Create(s.configMap("identified", nil))), crud.Created, 0, 1},
		{"create with an id, again", withID(crud.Create(s.configMap("identified", nil))), crud.Replayed, 1, 1},
		{"create if not exists", crud.CreateIfNotExists(s.configMap("a", nil)), crud.Unchanged, 1, 0},
		{"merge patch", crud.MergePatch(configMap, `{"data":{"k":"4"}}`), crud.Updated, 0, 1},
		{"JSON patch", crud.JSONPatch(configMap, `[{"op":"replace","path":"/data/k","value":"5"}]`), crud.Updated, 0, 1},
		{"JSON patch with an id", withID(crud.JSONPatch(configMap, `[{"op":"remove","path":"/data/k"}]`)), crud.Updated, 1, 1},
		{"JSON patch with an id, again", withID(crud.JSONPatch(configMap, `[{"op":"remove","path":"/data/k"}]`)), crud.Replayed, 1, 0},
		{"jq patch", crud.JQPatch(configMap, `.data.k = "6"`), crud.Updated, 1, 1},
		{"jq patch, unchanged", crud.JQPatch(configMap, `.data.k = "6"`), crud.Unchanged, 1, 0},
		{"filter patch", crud.FilterPatch(crud.Ref{Namespace: s.ns, Name: "a"}, func(configMap *corev1.ConfigMap) error {
			configMap.Data["k"] = "7"
			return nil
		}), crud.Updated, 1, 1},
		{"deletion of an absent object", crud.EnsureDeleted(s.ref("ConfigMap", "absent")), crud.AlreadyAbsent, 1, 0},
		// The second read finds out whether finalizers delay it.
		{"deletion", crud.EnsureDeletedInBackground(s.ref("ConfigMap", "deleted")), crud.Deleted, 2, 1},
	} {
		s.run(tc.op, tc.outcome)
		if reads, writes := s.sent(); reads != tc.reads || writes != tc.writes {
			t.Errorf("%s: sent %d reads and %d writes, want %d and %d", tc.name, reads, writes, tc.reads, tc.writes)
		}
	}
}

// conflicting answers the first POSTs as an API server that has generated names which exist.
type conflicting struct {
	next http.RoundTripper
	left *atomic.Int64
}

func (c conflicting) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPost || c.left.Add(-1) < 0 {
		return c.next.RoundTrip(request)
	}
	return &http.Response{
		StatusCode: http.StatusConflict, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,
			"details":{"retryAfterSeconds":1}}`)),
	}, nil
}

func TestCreate_GeneratedNamesExist_IsTriedAgain(t *testing.T) {
	s := newScene(t)
	var left atomic.Int64
	left.Store(1)
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return conflicting{next, &left} })
	client, err := crud.New(config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		t.Fatal(err)
	}
	object := s.configMap("", nil)
	object.GenerateName = "g-"
	if result, err := client.Run(t.Context(), crud.Create(object)); err != nil || result.Attempts != 2 {
		t.Errorf("after %d attempts: %v", result.Attempts, err)
	}
	left.Store(1)
	if _, err := client.Run(t.Context(), crud.Create(s.configMap("named", nil))); crud.ClassOf(err) != crud.AlreadyExists {
		t.Errorf("a name of the caller was retried: %v", err)
	}
}

// deletions notes the bodies of deletions.
type deletions struct {
	next   http.RoundTripper
	bodies chan<- string
}

func (d deletions) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodDelete {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		d.bodies <- string(body)
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	return d.next.RoundTrip(request)
}

func TestEnsureDeleted_GracePeriod_IsSent(t *testing.T) {
	s := newScene(t)
	bodies := make(chan string, 1)
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return deletions{next, bodies} })
	client, err := crud.New(config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		t.Fatal(err)
	}
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	seconds := int64(0)
	op := crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a"))
	op.GracePeriodSeconds = &seconds
	if result, err := client.Run(t.Context(), op); err != nil || result.Outcome != crud.Deleted {
		t.Errorf("got %s, %v", result.Outcome, err)
	}
	if body := <-bodies; !strings.Contains(body, `"gracePeriodSeconds":0`) {
		t.Errorf("the deletion is %s", body)
	}
	seconds = -1
	s.fails(op, crud.Malformed)
}

// A patch that does not fit is sent again if the object has changed so that the patch fits.
func TestJSONPatch_ObjectChangesAfterTheRejection_IsTriedAgain(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"k": "1"})), crud.Created)
	held := s.proxy.Hold(harness.Matching("get", "configmaps").And(harness.InNamespace(s.ns)))
	done := s.begin(crud.JSONPatch(s.ref("ConfigMap", "a"), `[{"op":"test","path":"/data/k","value":"2"},{"op":"replace","path":"/data/k","value":"3"}]`))
	held.Wait(t)
	s.patch(configMaps, "a", `{"data":{"k":"2"}}`)
	held.Release()
	if after := <-done; after.err != nil || after.result.Attempts != 2 {
		t.Errorf("after %d attempts: %v", after.result.Attempts, after.err)
	}
	if value := field(t, s.get(configMaps, "a"), "data", "k"); value != "3" {
		t.Errorf("the value is %v", value)
	}
}

// The index in an error counts the operations of the caller, although removals before it are left out.
func TestJSONPatch_MissingPathsAreIgnored_ErrorNamesTheOperationOfTheCaller(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	op := crud.JSONPatch(s.ref("ConfigMap", "a"), `[{"op":"remove","path":"/data"},{"op":"remove","path":"/data"},{"op":"replace","path":"/data/k","value":"1"}]`)
	op.IgnoreMissingPaths = true
	if message := s.fails(op, crud.PatchTestFailed); !strings.Contains(message, "operation 2 of the JSON patch") {
		t.Errorf("the message is %s", message)
	}
}
