/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
)

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

	method   string
	resource schema.GroupVersionResource
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

// has reports whether a cache that holds the object so, or nil if it does not, has the write or a later one.
func (w *write) has(cached metav1.Object) bool {
	switch {
	case cached == nil:
		return w.method != http.MethodPost
	case cached.GetUID() != w.UID:
		return true
	case w.ResourceVersion == "": // the answer to a deletion was no object
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

// recordWrite records the response to a write.
func recordWrite(request *http.Request, response *http.Response, record func(write)) error {
	if request.Method == http.MethodGet || response.StatusCode >= http.StatusMultipleChoices ||
		request.URL.Query().Has("dryRun") || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	body, err := readBody(response)
	if err != nil {
		return err
	}
	if written, ok := parseWrite(request, body); ok {
		record(written)
	}
	return nil
}

// parseWrite returns the object in a response, if there is one. The client reports an error of decoding.
func parseWrite(request *http.Request, body []byte) (write, bool) {
	w := write{method: request.Method}
	if json.Unmarshal(body, &w.PartialObjectMetadata) != nil {
		return w, false
	}
	if w.Kind == "Status" && request.Method == http.MethodDelete {
		var status metav1.Status
		if json.Unmarshal(body, &status) != nil || status.Details == nil {
			return w, false
		}
		w.Kind, w.Name, w.UID = "", status.Details.Name, status.Details.UID
		if _, path, ok := strings.Cut(request.URL.Path, "/namespaces/"); ok {
			w.Namespace, _, _ = strings.Cut(path, "/")
		}
	}
	_, rest, _ := strings.Cut(request.URL.Path, "/"+w.APIVersion+"/")
	parts := strings.Split(rest, "/")
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	w.resource = w.GroupVersionKind().GroupVersion().WithResource(parts[0])
	return w, w.UID != ""
}
