/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// roundTrip answers requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// served answers discovery, and is nil for other requests.
func served(request *http.Request) any {
	switch request.URL.Path {
	case "/api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "/apis":
		return metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	case "/api/v1":
		verbs := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
		list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1"}
		for _, r := range []metav1.APIResource{
			{Name: "pods", SingularName: "pod", Kind: "Pod", Namespaced: true},
			{Name: "pods/status", Kind: "Pod", Namespaced: true},
			{Name: "secrets", SingularName: "secret", Kind: "Secret", Namespaced: true},
		} {
			r.Verbs = verbs
			list.APIResources = append(list.APIResources, r)
		}
		return list
	}
	return nil
}

func answer(request *http.Request, code int, header http.Header, body []byte) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/json")
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: request,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// everyOperation has each type, with and without an id, the status and preconditions.
func everyOperation() []Operation {
	pod := Ref{APIVersion: "v1", Kind: "Pod", Namespace: "d", Name: "a"}
	object := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "a", "namespace": "d"}, "spec": map[string]any{"a": "b"},
		}}
	}
	snapshot := object("Pod")
	snapshot.SetResourceVersion("1")
	set := func(pod *corev1.Pod) error {
		pod.Spec.NodeName = "a"
		return nil
	}
	operations := []Operation{
		CreateOrUpdate(object("Pod")), CreateOrUpdate(object("Secret")), CreateOrUpdate(snapshot), Create(object("Pod")), CreateIfNotExists(object("Pod")),
		EnsureDeleted(pod), EnsureDeletedInBackground(pod), EnsureDeletedOrphaning(pod), MergePatch(pod, `{"spec":{"a":"b"}}`),
		JSONPatch(pod, `[{"op":"test","path":"/spec","value":[null]},{"op":"add","path":"/spec/-","value":1}]`), JSONPatch(pod, `[{"op":"remove","path":"/spec/a"}]`),
		JQPatch(pod, `.spec.a = "c"`), FilterPatch(pod, set), FilterPatchOptimistic(snapshot, func(u *unstructured.Unstructured) error {
			return unstructured.SetNestedField(u.Object, "c", "spec", "a")
		}),
	}
	for _, op := range operations {
		other := op
		other.StatusPatch = true
		other.Preconditions.UID = new(snapshot.GetUID())
		operations = append(operations, other)
		other = op
		other.ID, other.IgnoreMissing, other.IgnoreMissingPaths = "id", op.Type == TypeJSONPatch, op.Type == TypeJSONPatch
		operations = append(operations, other)
		other = op
		other.Strategy, other.OnImmutable = Apply, Recreate
		operations = append(operations, other)
	}
	return operations
}

func encodedStatus(code int, reason, message string, hasDetails bool, cause, field string, retryAfter int) []byte {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReason(reason), Message: message,
		Code: int32(code),
	}
	if hasDetails {
		status.Details = &metav1.StatusDetails{Name: "a", Kind: "pods", RetryAfterSeconds: int32(retryAfter)}
	}
	if hasDetails && cause+field != "" {
		status.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseType(cause), Message: message, Field: field}}
	}
	encoded, _ := json.Marshal(status) //nolint:errchkjson // texts and numbers
	return encoded
}

// FuzzRun_Answers has each operation receive an answer that an API server, a webhook or a proxy may send.
func FuzzRun_Answers(f *testing.F) {
	f.Add(413, "RequestEntityTooLarge", "limit is 3145728", false, "", "", 0, "")
	f.Add(422, "Invalid", "denied", false, "", "", 0, "")
	f.Add(422, "Invalid", "", true, "FieldValueInvalid", "metadata.uid", 0, "")
	f.Add(400, "BadRequest", "", true, "", "", 0, "")
	f.Add(404, "NotFound", "", true, "UnexpectedServerResponse", "", 0, "")
	f.Add(409, "Conflict", "Precondition failed", false, "FieldManagerConflict", ".spec", 0, "")
	f.Add(409, "AlreadyExists", "object is being deleted", true, "", "", 0, "")
	f.Add(429, "TooManyRequests", "", true, "", "", 1, "")
	f.Add(500, "InternalError", "etcdserver: request is too large", false, "", "", 1, "")
	f.Add(503, "", "", false, "", "", 3, "<html>")
	f.Add(504, "Timeout", "", true, "", "", 0, "")
	f.Add(200, "", "", false, "", "", 0, "{}")
	f.Add(200, "", "", false, "", "", 0, "null")
	f.Add(200, "", "", false, "", "", 0, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"1","deletionTimestamp":"x","finalizers":[null],"labels":null,"managedFields":[{}]},"spec":[null]}`)
	f.Add(201, "", "", false, "", "", 0, `{"apiVersion":"v1","kind":"Status","status":"Failure"}`)
	f.Fuzz(func(t *testing.T, code int, reason, message string, hasDetails bool, cause, field string, retryAfter int, body string) {
		if code < 200 || code > 599 {
			return
		}
		content := []byte(body)
		if body == "" {
			content = encodedStatus(code, reason, message, hasDetails, cause, field, retryAfter)
		}
		var answered atomic.Int32
		var onAnswer func()
		client, err := New(&rest.Config{Host: "http://a", Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
			if of := served(request); of != nil {
				encoded, err := json.Marshal(of)
				return answer(request, http.StatusOK, nil, encoded), err
			}
			answered.Add(1)
			onAnswer()
			header := http.Header{}
			if retryAfter > 0 {
				header.Set("Retry-After", strconv.Itoa(retryAfter))
			}
			return answer(request, code, header, content), nil
		})}, Options{FieldManager: "fuzz", Backoff: wait.Backoff{Steps: 2, Duration: 1}})
		if err != nil {
			t.Fatal(err)
		}
		// The client waits as long as the answer suggests; the first answer is the one that counts, however late it is.
		within := func() context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			onAnswer = sync.OnceFunc(func() { time.AfterFunc(50*time.Millisecond, cancel) })
			return ctx
		}
		for i, op := range everyOperation() {
			result, err := client.Run(within(), op)
			if answered.Swap(0) == 0 && ClassOf(err) != Malformed {
				t.Fatalf("operation %d, %s: it has sent no request, %v", i, op, err)
			}
			if err != nil && (strings.Contains(err.Error(), "panicked") || ClassOf(err) == "") {
				t.Fatalf("operation %d, %s: class %q: %v\n%v", i, op, ClassOf(err), err, result)
			}
		}
		if _, err := client.RunPlan(within(), Plan{Operations: everyOperation(), Task: "t", Continue: true}); err != nil && strings.Contains(err.Error(), "panicked") {
			t.Fatal(err)
		}
	})
}

// broken is an object whose encoder panics.
type broken struct{ corev1.Pod }

func (*broken) MarshalJSON() ([]byte, error) { panic("hunter2") }

func TestRun_APartPanics_IsAnErrorOfTheOperation(t *testing.T) {
	client, err := New(&rest.Config{Host: "http://a", Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
		encoded, err := json.Marshal(served(request))
		return answer(request, http.StatusOK, nil, encoded), err
	})}, Options{FieldManager: "f"})
	if err != nil {
		t.Fatal(err)
	}
	object := &broken{}
	object.SetName("a")
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	for name, run := range map[string]func() error{
		"the operation": func() error { _, err := client.Run(t.Context(), Create(object)); return err },
		"the preflight": func() error {
			_, err := client.RunPlan(t.Context(), Plan{Operations: []Operation{Create(object), Create(object)}})
			return err
		},
		"the plan": func() error {
			_, err := client.RunPlan(t.Context(), Plan{Task: "t", Operations: []Operation{Create(object)}})
			return err
		},
	} {
		if err := run(); err == nil || ClassOf(err) != Uncertain || !strings.Contains(err.Error(), name+" panicked") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got the class %q, %v", name, ClassOf(err), err)
		}
	}
}
