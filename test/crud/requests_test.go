/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	client := s.wrapped(func(next http.RoundTripper) http.RoundTripper { return conflicting{next, &left} })
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

// noting sends the bodies of the requests with a method to a channel.
type noting struct {
	next   http.RoundTripper
	method string
	bodies chan<- string
}

func (n noting) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == n.method {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		n.bodies <- string(body)
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	return n.next.RoundTrip(request)
}

// noted returns a client and the body of its next request with a method.
func (s *scene) noted(method string) (*crud.Client, <-chan string) {
	s.Helper()
	bodies := make(chan string, 1)
	client := s.wrapped(func(next http.RoundTripper) http.RoundTripper { return noting{next, method, bodies} })
	return client, bodies
}

// wrapped returns a client with another transport.
func (s *scene) wrapped(wrap func(http.RoundTripper) http.RoundTripper) *crud.Client {
	s.Helper()
	config := rest.CopyConfig(s.config)
	config.Wrap(wrap)
	client, err := crud.New(config, crud.Options{FieldManager: "crud-test", Backoff: quickBackoff(time.Millisecond)})
	if err != nil {
		s.Fatal(err)
	}
	return client
}

func TestEnsureDeleted_GracePeriod_IsSent(t *testing.T) {
	s := newScene(t)
	client, bodies := s.noted(http.MethodDelete)
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
	op := crud.JSONPatch(s.ref("ConfigMap", "a"), `[{"op":"test","path":"/data/k","value":"2"},{"op":"replace","path":"/data/k","value":"3"}]`)
	held, done := s.beginHeld(op, harness.Matching("get", "configmaps"))
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

func TestRequests_PlanWithPreflight_SendsNoMoreThanItNeeds(t *testing.T) {
	s := newScene(t)
	const n = 10
	all := func(value string) (operations []crud.Operation) {
		for i := range n {
			operations = append(operations, crud.CreateOrUpdate(s.configMap(fmt.Sprint("a", i), map[string]string{"k": value})))
		}
		return operations
	}
	each := func(prefix string, operation func(*corev1.ConfigMap, crud.Ref) crud.Operation) (operations []crud.Operation) {
		for i := range n {
			name := fmt.Sprint(prefix, i)
			operations = append(operations, operation(s.configMap(name, nil), s.ref("ConfigMap", name)))
		}
		return operations
	}
	patches := each("a", func(_ *corev1.ConfigMap, ref crud.Ref) crud.Operation {
		return crud.MergePatch(ref, `{"data":{"k":"3"}}`)
	})
	for _, tc := range []struct {
		name       string
		client     *crud.Client
		operations []crud.Operation
		outcome    crud.Outcome
		reads      int
		writes     int
	}{
		// One read of the first object, one dry run and one POST of each.
		{"absent", s.client, all("1"), crud.Created, 1, 2 * n},
		{"unchanged", s.newClient(1), all("1"), crud.Unchanged, n, 0},
		{"changed", s.client, all("2"), crud.Updated, n, 2 * n},
		{"patches", s.client, patches, crud.Updated, 0, 2 * n},
		{"JSON patches", s.client, each("a", func(_ *corev1.ConfigMap, ref crud.Ref) crud.Operation {
			return crud.JSONPatch(ref, `[{"op":"replace","path":"/data/k","value":"4"}]`)
		}), crud.Updated, 0, 2 * n},
		{"jq patches", s.client, each("a", func(_ *corev1.ConfigMap, ref crud.Ref) crud.Operation {
			return crud.JQPatch(ref, `.data.k = "5"`)
		}), crud.Updated, 2 * n, 2 * n},
		{"creations", s.client, each("b", func(object *corev1.ConfigMap, _ crud.Ref) crud.Operation { return crud.Create(object) }), crud.Created, 0, 2 * n},
		{"creations if absent", s.client, each("c", func(object *corev1.ConfigMap, _ crud.Ref) crud.Operation {
			return crud.CreateIfNotExists(object)
		}), crud.Created, 1, 2 * n},
		{"one operation", s.client, patches[:1], crud.Updated, 0, 1},
		{"one object that is absent", s.client, []crud.Operation{crud.CreateOrUpdate(s.configMap("one", nil))}, crud.Created, 1, 1},
		{"one object that is unchanged", s.client, []crud.Operation{crud.CreateIfNotExists(s.configMap("one", nil))}, crud.Unchanged, 1, 0},
	} {
		s.sent()
		results, err := tc.client.RunPlan(t.Context(), crud.Plan{Operations: tc.operations})
		if reads, writes := s.sent(); err != nil || reads != tc.reads || writes != tc.writes {
			t.Errorf("%s: sent %d reads and %d writes, want %d and %d: %v", tc.name, reads, writes, tc.reads, tc.writes, err)
		}
		for i, result := range results {
			if result.Outcome != tc.outcome || result.Object.GetUID() == "" {
				t.Errorf("%s: operation %d: %s of %v", tc.name, i+1, result.Outcome, result.Object)
			}
		}
	}
}

func TestPlan_ImmutableField_IsRecreated(t *testing.T) {
	s := newScene(t)
	upsert := func(name, value string) crud.Operation {
		configMap := s.configMap(name, map[string]string{"k": value})
		configMap.Immutable = new(true)
		op := crud.CreateOrUpdate(configMap)
		op.OnImmutable, op.Wait = crud.Recreate, harness.Deadline
		return op
	}
	for _, tc := range []struct {
		value   string
		outcome crud.Outcome
	}{{"1", crud.Created}, {"2", crud.Replaced}} {
		results, err := s.client.RunPlan(t.Context(), crud.Plan{Operations: []crud.Operation{upsert("a", tc.value), upsert("b", tc.value)}})
		if err != nil || !endedWith(results, tc.outcome, tc.outcome) {
			t.Errorf("the outcomes are %s, want %s: %v", outcomes(results), tc.outcome, err)
		}
	}
}

// The plan writes from the states that its preflight has read, and must not overwrite later ones.
func TestPlan_ObjectsChangeAfterThePreflight_LosesNothing(t *testing.T) {
	s := newScene(t)
	upsert := func(name string) crud.Operation {
		return crud.CreateOrUpdate(s.configMap(name, map[string]string{"k": "2"}))
	}
	s.run(crud.Create(s.configMap("changed", map[string]string{"k": "1"})), crud.Created)
	s.run(crud.Create(s.configMap("deleted", map[string]string{"k": "1"})), crud.Created)
	plan := crud.Plan{Operations: []crud.Operation{upsert("first"), upsert("changed"), upsert("absent"), upsert("deleted")}}
	plan.Checked = func(number int) {
		if number != len(plan.Operations) {
			return
		}
		s.patch(configMaps, "changed", `{"data":{"k":"9","theirs":"9"}}`)
		others := s.env.Kube.CoreV1().ConfigMaps(s.ns)
		_, err := others.Create(t.Context(), s.configMap("absent", map[string]string{"theirs": "9"}), metav1.CreateOptions{})
		if err := errors.Join(err, others.Delete(t.Context(), "deleted", metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	}
	results, err := s.client.RunPlan(t.Context(), plan)
	if err != nil || !endedWith(results, crud.Created, crud.Updated, crud.Updated, crud.Created) {
		t.Errorf("the outcomes are %s: %v", outcomes(results), err)
	}
	for name, theirs := range map[string]any{"first": nil, "changed": "9", "absent": "9", "deleted": nil} {
		object := s.get(configMaps, name)
		if field(t, object, "data", "k") != "2" || field(t, object, "data", "theirs") != theirs {
			t.Errorf("%s has the data %v", name, field(t, object, "data"))
		}
	}
}
