/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package expectations

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
)

// Patience is the time after which a cache that is behind a write is trusted again. It is reached only if the event of the write never
// arrives, for example because etcd was restored from a backup and counts its versions again.
const Patience = 30 * time.Second

// Expectations remembers what a reconciler last wrote of each object, and of the children that it controls, until the cache has it. It
// may be used by several goroutines. Use New.
type Expectations struct {
	clock    clock.PassiveClock
	children func(owner metav1.Object) []metav1.Object

	mu sync.Mutex
	// families are the objects, by UID.
	families map[types.UID]*family
	// swept is the time at which families with overdue writes only were last deleted.
	swept time.Time
}

// family holds the known writes of one object and of its children.
type family struct {
	// awaited holds the last write of each of them that the cache may lack, by UID.
	awaited        map[types.UID]write
	doubtful, read bool
}

type write struct {
	at time.Time
	// arrived reports whether a cache has the write or a later one. An object that the cache lacks is nil.
	arrived func(cached metav1.Object) bool
}

// New returns Expectations without any write. children returns the children of an object as the cache of the reconciler has them; it
// is nil for a reconciler that does not write to children.
func New(children func(owner metav1.Object) []metav1.Object) *Expectations {
	if children == nil {
		children = func(metav1.Object) []metav1.Object { return nil }
	}
	return &Expectations{clock: clock.RealClock{}, children: children, families: map[types.UID]*family{}, swept: time.Now()}
}

// Record notes an object as the API server returned it for a write.
func (e *Expectations) Record(written metav1.Object) {
	version, least := written.GetResourceVersion(), 0
	if written.GetDeletionTimestamp() != nil && len(written.GetFinalizers()) == 0 {
		// The write removed the last finalizer, and so deleted the object. The API server returns the version from before it.
		least = 1
	}
	e.await(written, written.GetUID(), func(cached metav1.Object) bool { return order(cached, version) >= least })
}

// Written notes a child as the API server returned it for a write or a read.
func (e *Expectations) Written(owner, child metav1.Object) {
	if child.GetDeletionTimestamp() != nil {
		// It may have left the cache already, and would never be seen.
		e.Deleted(owner, child.GetUID())
		return
	}
	version := child.GetResourceVersion()
	e.await(owner, child.GetUID(), func(cached metav1.Object) bool { return cached != nil && order(cached, version) >= 0 })
}

// Deleted notes that the API server has accepted the deletion of a child, or does not have it anymore.
func (e *Expectations) Deleted(owner metav1.Object, child types.UID) {
	e.await(owner, child, func(cached metav1.Object) bool { return cached == nil || cached.GetDeletionTimestamp() != nil })
}

// order compares the version of a cached object with another one. Resource versions of one resource can be compared since
// Kubernetes 1.35 (KEP-5504). One that cannot be compared counts as later, because it must not stop anything.
func order(cached metav1.Object, version string) int {
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), version)
	if err != nil {
		return 1
	}
	return order
}

func (e *Expectations) await(owner metav1.Object, object types.UID, arrived func(metav1.Object) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sweep()
	e.familyOf(owner).awaited[object] = write{at: e.clock.Now(), arrived: arrived}
}

// sweep deletes families that were not queried within Patience, because their objects were deleted. e.mu is held.
func (e *Expectations) sweep() {
	if e.clock.Since(e.swept) < Patience {
		return
	}
	e.swept = e.clock.Now()
	maps.DeleteFunc(e.families, func(_ types.UID, f *family) bool {
		for _, last := range f.awaited {
			if e.clock.Since(last.at) < Patience {
				return false
			}
		}
		return !f.doubtful && !f.read
	})
}

// Doubt notes that a write of a child may have been made or not, because its answer was lost. Doubtful is true until Read is called.
func (e *Expectations) Doubt(owner metav1.Object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.familyOf(owner).doubtful = true
}

// Doubtful reports whether the cache cannot be relied on: after Doubt, or after a write did not arrive within Patience.
func (e *Expectations) Doubtful(owner metav1.Object) bool { return e.known(owner).doubtful }

// Read notes all children as the API server has just listed them. The cache is behind until it has the same.
func (e *Expectations) Read(owner metav1.Object, live []metav1.Object) {
	for _, child := range e.children(owner) {
		e.Deleted(owner, child.GetUID())
	}
	for _, child := range live {
		e.Written(owner, child)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.familyOf(owner)
	f.doubtful, f.read = false, true
}

// WasRead reports whether the children were read from the API server since this process began to write. Until then, the cache may
// lack what another process wrote before.
func (e *Expectations) WasRead(owner metav1.Object) bool { return e.known(owner).read }

// known returns the family of an object.
func (e *Expectations) known(owner metav1.Object) family {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f, ok := e.families[owner.GetUID()]; ok {
		return *f
	}
	return family{}
}

// Promoted is called when the process begins to write, since another one wrote before.
func (e *Expectations) Promoted() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.families)
}

// Removed is called with an object, or a child, that has left the cache, where a write to it will never arrive.
func (e *Expectations) Removed(object metav1.Object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.families, object.GetUID())
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		if f, ok := e.families[owner.UID]; ok {
			delete(f.awaited, object.GetUID())
		}
	}
}

// Behind reports whether the cache, which has the object so, lacks a write of it or of one of its children.
func (e *Expectations) Behind(cached metav1.Object) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, ok := e.families[cached.GetUID()]
	if !ok || len(f.awaited) == 0 {
		return false
	}
	objects := map[types.UID]metav1.Object{cached.GetUID(): cached}
	for _, child := range e.children(cached) {
		objects[child.GetUID()] = child
	}
	maps.DeleteFunc(f.awaited, func(object types.UID, last write) bool {
		if last.arrived(objects[object]) {
			return true
		}
		isOverdue := e.clock.Since(last.at) >= Patience
		f.doubtful = f.doubtful || isOverdue
		return isOverdue
	})
	if len(f.awaited) == 0 && !f.doubtful && !f.read {
		delete(e.families, cached.GetUID())
	}
	return len(f.awaited) > 0
}

// familyOf returns the family of an object, a new one if none is known. e.mu is held.
func (e *Expectations) familyOf(owner metav1.Object) *family {
	f, ok := e.families[owner.GetUID()]
	if !ok {
		f = &family{awaited: map[types.UID]write{}}
		e.families[owner.GetUID()] = f
	}
	return f
}

type recordingKey struct{}

// Recording returns a context in which Transport records the writes of an object: the generated reconciler discards the responses of
// the API server, which alone contain the new resourceVersion.
func (e *Expectations) Recording(ctx context.Context, object metav1.Object) context.Context {
	return context.WithValue(ctx, recordingKey{}, func(written metav1.Object) {
		if written.GetUID() == object.GetUID() {
			e.Record(written)
		}
	})
}

// Transport is for rest.Config.Wrap. It records the writes of requests whose context is from Recording.
func Transport(inner http.RoundTripper) http.RoundTripper { return &recorder{inner} }

type recorder struct{ inner http.RoundTripper }

// WrappedRoundTripper lets client-go find the transport at the bottom.
func (r *recorder) WrappedRoundTripper() http.RoundTripper { return r.inner }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.inner.RoundTrip(request)
	record, isRecorded := request.Context().Value(recordingKey{}).(func(metav1.Object))
	isWrite := request.Method == http.MethodPut || request.Method == http.MethodPatch
	if err != nil || !isRecorded || !isWrite || response.StatusCode != http.StatusOK {
		return response, err //nolint:wrapcheck // it is not ours
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading the response to a write: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	var written metav1.PartialObjectMetadata
	// The client reports what cannot be decoded.
	if json.Unmarshal(body, &written) == nil {
		record(&written)
	}
	return response, nil
}
