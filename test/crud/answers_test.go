/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud"
)

// answering answers one of the next writes otherwise than the API server did: after it was executed or not, with a code or, if that is 0, not at all.
type answering struct {
	next                            http.RoundTripper
	left                            atomic.Int32 // writes to it
	executed, retryAfter, keepsHead bool
	code                            int
}

func (a *answering) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || a.left.Add(-1) != 0 {
		return a.next.RoundTrip(request)
	}
	header := http.Header{"Content-Type": {"text/html"}}
	if a.executed {
		response, err := a.next.RoundTrip(request)
		if err != nil || response.StatusCode >= http.StatusBadRequest {
			return response, err
		}
		if a.keepsHead {
			header = response.Header
		}
	}
	if a.code == 0 {
		return nil, io.EOF
	}
	if a.retryAfter {
		header.Set("Retry-After", "0")
	}
	return &http.Response{StatusCode: a.code, Header: header, Request: request, Body: io.NopCloser(strings.NewReader("no"))}, nil
}

// appending are operations that have another effect if they are executed twice.
func (s *scene) appending(name, id string) []crud.Operation {
	generated := s.configMap("", nil)
	generated.GenerateName, generated.Labels = name+"-", map[string]string{"of": name}
	named := s.configMap(name, nil)
	named.Labels = generated.Labels
	all := []crud.Operation{
		crud.Create(generated), crud.Create(named),
		crud.JSONPatch(s.ref("Widget", name), `[{"op":"add","path":"/spec/list/-","value":"b"}]`),
		crud.JQPatch(s.ref("Widget", name), `.spec.list += ["b"]`),
		crud.FilterPatchOptimistic(s.get(widgets, name), func(widget *unstructured.Unstructured) error {
			return unstructured.SetNestedStringSlice(widget.Object, []string{"a", "b"}, "spec", "list")
		}),
	}
	for i := range all {
		if all[i].ID = id; all[i].Type == crud.TypeFilterPatchOptimistic {
			all[i].ID = ""
		}
	}
	return all
}

// effects counts what the operations of appending did: objects that were created, and items that were appended.
func (s *scene) effects(name string) int {
	s.Helper()
	list, err := s.env.Dynamic.Resource(configMaps).Namespace(s.ns).List(s.Context(), metav1.ListOptions{LabelSelector: "of=" + name})
	if err != nil {
		s.Fatal(err)
	}
	items, ok := field(s.T, s.get(widgets, name), "spec", "list").([]any)
	if !ok {
		s.Fatal("the object has no list")
	}
	return len(list.Items) + len(items) - 1
}

// A proxy can answer a write with any code after the API server has executed it, or before.
func TestWrite_AnyAnswer_IsExecutedOnceOrReported(t *testing.T) {
	for _, code := range answerCodes {
		for way, of := range []struct{ executed, retryAfter, keepsHead bool }{
			{retryAfter: true},
			{executed: true},
			{executed: true, retryAfter: true},
			{executed: true, retryAfter: true, keepsHead: true},
		} {
			for _, id := range []string{"", "id"} {
				t.Run(fmt.Sprintf("%d/%d/%s", code, way, id), func(t *testing.T) {
					transport := &answering{code: code, executed: of.executed, retryAfter: of.retryAfter, keepsHead: of.keepsHead}
					s := newScene(t)
					client := s.wrapped(func(next http.RoundTripper) http.RoundTripper {
						transport.next = next
						return transport
					})
					s.applyEach(5, `{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: w%d}, spec: {list: [a]}}`)
					for n := range 5 {
						name := fmt.Sprintf("w%d", n)
						op := s.appending(name, id)[n]
						transport.left.Store(1)
						result, err := client.Run(t.Context(), op)
						effects, class := s.effects(name), crud.ClassOf(err)
						if effects > 1 || err == nil && effects == 0 || err != nil && (class != crud.Uncertain || op.ID != "") {
							t.Errorf("%s with id %q (executed: %t, Retry-After: %t, headers: %t): %d effects, %s, %v", op, op.ID,
								transport.executed, transport.retryAfter, transport.keepsHead, effects, result.Outcome, err)
						}
					}
				})
			}
		}
	}
}

// applyEach creates objects, whose names have a number from 0, by one run of kubectl.
func (s *scene) applyEach(count int, manifest string) {
	s.Helper()
	var all strings.Builder
	for i := range count {
		fmt.Fprintf(&all, manifest+"\n---\n", i)
	}
	s.env.Apply(s, s.ns, all.String())
}

// A recreation is a deletion and a creation. Whichever answer is lost or wrong, the next attempt finds the state and ends with the desired object.
func TestRecreate_AnyAnswer_EndsWithTheDesiredObject(t *testing.T) {
	s := newScene(t)
	transport := &answering{}
	client := s.wrapped(func(next http.RoundTripper) http.RoundTripper {
		transport.next = next
		return transport
	})
	s.applyEach(12, `{apiVersion: v1, kind: ConfigMap, metadata: {name: r%d}, immutable: true, data: {k: "1"}}`)
	for i := range 12 {
		name := fmt.Sprintf("r%d", i)
		op := crud.CreateOrUpdate(s.configMap(name, map[string]string{"k": "2"}))
		op.OnImmutable = crud.Recreate
		transport.executed, transport.code = i%2 == 0, []int{0, http.StatusConflict, http.StatusServiceUnavailable}[i/4]
		const patchIsRejected = 1
		transport.left.Store(int32(patchIsRejected + 1 + i/2%2)) //nolint:gosec // 2 or 3
		transport.repeat(s, client, op)
		if value := field(t, s.get(configMaps, name), "data", "k"); value != "2" {
			t.Errorf("%d: the value is %v", i, value)
		}
	}
}

// repeat runs an operation, and again if it fails with an error after which it may be repeated. Its last run must succeed.
func (a *answering) repeat(s *scene, client *crud.Client, op crud.Operation) {
	s.Helper()
	_, err := client.Run(s.Context(), op)
	if err == nil {
		return
	}
	a.left.Store(0)
	_, again := client.Run(s.Context(), op)
	if !crud.Retriable(err) || again != nil {
		s.Errorf("%s (code %d, executed: %t): the first attempt ended with %v, the second with %v", op, a.code, a.executed, err, again)
	}
}

// The same holds for the strategy apply and for deletions, which send one write.
func TestApplyAndDelete_AnyAnswer_EndWithTheDesiredState(t *testing.T) {
	s := newScene(t)
	transport := &answering{}
	client := s.wrapped(func(next http.RoundTripper) http.RoundTripper {
		transport.next = next
		return transport
	})
	for _, transport.code = range []int{0, http.StatusConflict, http.StatusServiceUnavailable} {
		for _, transport.executed = range []bool{false, true} {
			name := fmt.Sprintf("a%d-%t", transport.code, transport.executed)
			run := func(op crud.Operation) {
				transport.left.Store(1)
				transport.repeat(s, client, op)
				if transport.left.Load() > 0 {
					t.Errorf("%s: no write got the answer %d", op, transport.code)
				}
			}
			for _, want := range []string{"1", "2"} {
				op := crud.CreateOrUpdate(s.configMap(name, map[string]string{"k": want}))
				op.Strategy = crud.Apply
				run(op)
				if value := field(t, s.get(configMaps, name), "data", "k"); value != want {
					t.Errorf("%s: the value is %v, want %s", op, value, want)
				}
			}
			op := crud.EnsureDeletedInBackground(s.ref("ConfigMap", name))
			run(op)
			if _, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("%s: reading the object: %v", op, err)
			}
		}
	}
}

// twice delivers each write twice, as a proxy does that lost the first answer.
type twice struct{ next http.RoundTripper }

func (t twice) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		first := request.Clone(request.Context())
		var err error
		if first.Body, err = request.GetBody(); err != nil {
			return nil, err
		}
		response, err := t.next.RoundTrip(first)
		if err != nil {
			return nil, err
		}
		if err := response.Body.Close(); err != nil {
			return nil, err
		}
	}
	return t.next.RoundTrip(request)
}

func TestWrite_RequestIsDeliveredTwice_IsExecutedOnce(t *testing.T) {
	s := newScene(t)
	client := s.wrapped(func(next http.RoundTripper) http.RoundTripper { return twice{next} })
	s.applyEach(5, `{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: t%d}, spec: {list: [a]}}`)
	for i := range 5 {
		name := fmt.Sprintf("t%d", i)
		op := s.appending(name, "id")[i]
		result, err := client.Run(t.Context(), op)
		// Without an id, the conflict with itself looks like one with another writer.
		if effects := s.effects(name); effects != 1 || err != nil && (op.ID != "" || crud.ClassOf(err) != crud.Conflict) {
			t.Errorf("%s: %d effects, %s, %v", op, effects, result.Outcome, err)
		}
	}
}

// late executes a write, and ends the context of the operation before the answer arrives.
type late struct {
	next   http.RoundTripper
	cancel *atomic.Pointer[context.CancelFunc]
}

func (l late) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet {
		return l.next.RoundTrip(request)
	}
	response, err := l.next.RoundTrip(request)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		return response, err
	}
	if err := response.Body.Close(); err != nil {
		return nil, err
	}
	(*l.cancel.Load())()
	return nil, request.Context().Err()
}

func TestWrite_ContextEndsBeforeTheAnswer_IsUncertain(t *testing.T) {
	s := newScene(t)
	var cancel atomic.Pointer[context.CancelFunc]
	client := s.wrapped(func(next http.RoundTripper) http.RoundTripper { return late{next, &cancel} })
	s.applyEach(10, `{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: l%d}, spec: {list: [a]}}`)
	for i := range 10 {
		id, name := []string{"", "id"}[i%2], fmt.Sprintf("l%d", i)
		op := s.appending(name, id)[i/2]
		ctx, end := context.WithCancel(t.Context())
		cancel.Store(&end)
		_, err := client.Run(ctx, op)
		end()
		if effects := s.effects(name); effects != 1 || crud.ClassOf(err) != crud.Uncertain {
			t.Errorf("%s with id %q: %d effects, %v", op, op.ID, effects, err)
		}
		// An operation with an id or a resourceVersion finds out, and others must not be repeated.
		if again := crud.Retriable(err); again != (op.ID != "" || op.RequiredVersion() != "") {
			t.Errorf("%s with id %q: may be repeated: %t", op, op.ID, again)
		}
	}
}

// The API server rejects these with the code 500, each time.
func TestWrite_RejectedForGood_IsInvalid(t *testing.T) {
	s := newScene(t)
	unknown := crud.CreateOrUpdate(s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, sizee: "1"}`))
	unknown.Strategy = crud.Apply
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	for name, op := range map[string]crud.Operation{
		"a field that does not exist":   unknown,
		"larger than an object of etcd": crud.Create(s.object(`{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: b}, spec: {list: ["` + strings.Repeat("x", 1_700_000) + `"]}}`)),
		"larger than a message to etcd": crud.CreateOrUpdate(s.object(`{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: c}, spec: {list: ["` + strings.Repeat("x", 2_400_000) + `"]}}`)),
	} {
		result, err := s.client.Run(t.Context(), op)
		if crud.ClassOf(err) != crud.Invalid || result.Attempts != 1 {
			t.Errorf("%s: after %d attempts: %.300v", name, result.Attempts, err)
		}
	}
}
