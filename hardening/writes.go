/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
)

// transport is for rest.Config.Wrap. All clients of the process use it.
type transport struct {
	inner   http.RoundTripper
	process *process
}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.inner }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.send(request)
	if err != nil {
		return nil, err
	}
	if strings.Contains(request.URL.Path, "/leases") && (response.StatusCode < http.StatusBadRequest || response.StatusCode == http.StatusNotFound) {
		t.process.leases.Store(true)
	}
	if strings.Contains(request.URL.Path, "/secrets") && !t.process.off[secrets] {
		response.Header.Del("Warning")
	}
	if !t.process.off[retries] {
		if err := keepRetryAfter(request, response); err != nil {
			return nil, err
		}
	}
	// The context has it only if writes are awaited.
	if record, ok := request.Context().Value(recordingKey{}).(func(write)); ok {
		if err := recordWrite(request, response, record); err != nil {
			return nil, err
		}
	}
	return response, nil
}

// readBody reads the body of a response, which can be read again.
func readBody(response *http.Response) ([]byte, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading a response with status %d: %w", response.StatusCode, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// keepRetryAfter moves the time from the header Retry-After, which client-go obeys, to the Status in the body, which the back-off does.
func keepRetryAfter(request *http.Request, response *http.Response) error {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return nil //nolint:nilerr // there is no such header, or it is a date, which client-go ignores
	}
	response.Header.Del("Retry-After")
	body, err := readBody(response)
	if err != nil {
		return err
	}
	if contentType := response.Header.Get("Content-Type"); contentType != runtime.ContentTypeJSON && !strings.HasPrefix(contentType, "text/") {
		return nil
	}
	status := apierrors.NewGenericServerResponse(response.StatusCode, request.Method, schema.GroupResource{}, "", string(body), seconds, true).ErrStatus
	status.Kind, status.APIVersion = "Status", "v1"
	_ = json.Unmarshal(body, &status) // priority and fairness sends text
	body, _ = json.Marshal(status)    // it has nothing that cannot be encoded
	response.Header.Set("Content-Type", runtime.ContentTypeJSON)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// patience is the time after which a cache that lacks a write is trusted again. It is reached if the event of the write never arrives, for
// example because no informer watches the object.
const patience = 10 * time.Second

// writes remembers what the reconciliations of one controller wrote, until the caches have it. A reconciliation that begins earlier would write
// its status to an outdated object, or create a child that exists.
type writes struct {
	informers *informers
	clock     clock.PassiveClock

	mu sync.Mutex
	// awaited are the writes that the caches may lack, by the reconciled object and by UID.
	awaited map[types.NamespacedName]map[types.UID]write
	swept   time.Time
}

// write is the result of a request.
type write struct {
	metav1.PartialObjectMetadata
	// Details have the object in the response to a deletion that has no object.
	Details metav1.StatusDetails `json:"details"`

	method   string
	resource schema.GroupVersionResource // of an object that was created
	at       time.Time
}

func newWrites(i *informers) *writes {
	return &writes{informers: i, clock: clock.RealClock{}, awaited: map[types.NamespacedName]map[types.UID]write{}}
}

type recordingKey struct{}

// recording returns a context in which the transport records the writes of a reconciliation: the generated reconcilers discard
// the answers, which alone contain the new resourceVersion.
func (w *writes) recording(ctx context.Context, object types.NamespacedName) context.Context {
	return context.WithValue(ctx, recordingKey{}, func(written write) { w.record(object, written) })
}

func (w *writes) record(object types.NamespacedName, written write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	written.at = w.clock.Now()
	if written.at.Sub(w.swept) > patience {
		// Objects that were deleted are not reconciled again.
		w.swept = written.at
		maps.DeleteFunc(w.awaited, func(_ types.NamespacedName, of map[types.UID]write) bool {
			maps.DeleteFunc(of, func(_ types.UID, old write) bool { return w.clock.Since(old.at) > patience })
			return len(of) == 0
		})
	}
	if w.awaited[object] == nil {
		w.awaited[object] = map[types.UID]write{}
	}
	w.awaited[object][written.UID] = written
}

// behind reports whether a cache lacks a write of an earlier reconciliation of the object.
func (w *writes) behind(object types.NamespacedName) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.awaited[object], func(_ types.UID, last write) bool {
		if w.clock.Since(last.at) < patience {
			return w.informers.have(last)
		}
		w.informers.missed(last)
		return true
	})
	if len(w.awaited[object]) > 0 {
		return true
	}
	delete(w.awaited, object)
	return false
}

// isIn reports whether the object in a cache has the write or a later one.
func (w *write) isIn(cached metav1.Object) bool {
	if w.ResourceVersion == "" { // the answer to a deletion was no object
		return cached.GetDeletionTimestamp() != nil
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), w.ResourceVersion)
	if w.DeletionTimestamp != nil && len(w.Finalizers) == 0 && w.method != http.MethodDelete {
		// The write removed the last finalizer and so deleted the object. The API server returns the version before that.
		return err != nil || order > 0
	}
	// What cannot be compared must not stop anything.
	return err != nil || order >= 0
}

// recordWrite records the object in the response to a write, if there is one.
func recordWrite(request *http.Request, response *http.Response, record func(write)) error {
	if request.Method == http.MethodGet || response.StatusCode >= http.StatusMultipleChoices ||
		request.URL.Query().Has("dryRun") || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/") {
		return nil
	}
	body, err := readBody(response)
	if err != nil {
		return err
	}
	w := write{method: request.Method}
	// The clients of built-in kinds receive protobuf, those of others JSON. The client reports an error of decoding.
	if !bytes.HasPrefix(body, []byte("{")) {
		object, _, _ := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		body, _ = json.Marshal(object)
	}
	_ = json.Unmarshal(body, &w)
	if w.Kind == "Status" {
		w.Name, w.UID = w.Details.Name, w.Details.UID
		_, rest, _ := strings.Cut(request.URL.Path, "/namespaces/")
		w.Namespace, _, _ = strings.Cut(rest, "/")
	}
	w.resource = w.GroupVersionKind().GroupVersion().WithResource(path.Base(request.URL.Path))
	if w.UID != "" {
		record(w)
	}
	return nil
}
