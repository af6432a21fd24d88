/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// apiServer lists and watches Secrets as an API server does, which a random schedule disturbs.
type apiServer struct {
	mu      sync.Mutex
	version int
	live    map[string]*corev1.Secret
	// history are the events after version forgotten. Older ones are answered with 410.
	history   []watch.Event
	forgotten int
	watches   map[*watch.FakeWatcher]struct{}
	// rejection holds the error of all requests, or nil.
	rejection error
	// backup is a state to which restore returns.
	backup backup
	// newest is the newest version that there has been, and lost has those after a backup and before a restore.
	newest int
	lost   [][2]int
	// requests is the number of lists and watches.
	requests int
	// gate keeps requests waiting until it is closed, unless it is nil.
	gate chan struct{}
}

func newAPIServer() *apiServer {
	return &apiServer{version: 1, forgotten: 1, live: map[string]*corev1.Secret{}, watches: map[*watch.FakeWatcher]struct{}{}}
}

var errRefused = fmt.Errorf("connecting: %w", syscall.ECONNREFUSED)

// hold has requests wait until release is called.
func (s *apiServer) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate = make(chan struct{})
	return sync.OnceFunc(func() { close(s.gate) })
}

// accept counts a request, and returns an error unless it can be answered. A watch from a version that was lost would not fail once the server has
// newer ones, and then nothing could find what it misses. The caller holds the lock until it has answered: a restore in between would leave such a watch.
func (s *apiServer) accept(ctx context.Context, options metav1.ListOptions) error {
	s.requests++
	if gate := s.gate; gate != nil {
		s.mu.Unlock()
		select {
		case <-gate:
		case <-ctx.Done():
		}
		s.mu.Lock()
	}
	version, err := strconv.Atoi(options.ResourceVersion)
	if s.rejection != nil || err != nil || !slices.ContainsFunc(s.lost, func(lost [2]int) bool { return lost[0] < version && version <= lost[1] }) {
		return s.rejection
	}
	tooLarge := apierrors.NewTimeoutError("Too large resource version", 1)
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	return tooLarge
}

// answered returns the number of requests so far.
func (s *apiServer) answered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// list returns the objects that exist.
func (s *apiServer) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.accept(ctx, options); err != nil {
		return nil, err
	}
	list := &corev1.SecretList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, object := range s.live {
		list.Items = append(list.Items, *object.DeepCopy())
	}
	return list, nil
}

// watch sends what has changed since a version, or what exists.
func (s *apiServer) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.accept(ctx, options); err != nil {
		return nil, err
	}
	// More than any schedule has events.
	w := watch.NewFakeWithChanSize(1000, false)
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		for _, object := range s.live {
			w.Add(object.DeepCopy())
		}
		w.Action(watch.Bookmark, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: strconv.Itoa(s.version), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}})
	} else {
		from, err := strconv.Atoi(options.ResourceVersion)
		if err != nil {
			return nil, fmt.Errorf("reading the version of a watch: %w", err)
		}
		if from < s.forgotten {
			return nil, apierrors.NewResourceExpired("too old resource version")
		}
		for _, event := range s.history {
			if versionOf(event.Object.(*corev1.Secret)) > from {
				w.Action(event.Type, event.Object.DeepCopyObject())
			}
		}
	}
	s.watches[w] = struct{}{}
	return w, nil
}

func (s *apiServer) send(t watch.EventType, object *corev1.Secret) {
	event := watch.Event{Type: t, Object: object.DeepCopy()}
	s.history = append(s.history, event)
	for w := range s.watches {
		if !w.IsStopped() {
			w.Action(t, object.DeepCopy())
		}
	}
}

// write creates an object, or updates it.
func (s *apiServer) write(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	change, uid := watch.Added, types.UID(name+strconv.Itoa(s.version))
	if object, ok := s.live[name]; ok {
		change, uid = watch.Modified, object.UID
	}
	s.live[name] = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: uid, ResourceVersion: strconv.Itoa(s.version)}}
	s.send(change, s.live[name])
}

func (s *apiServer) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.live[name]
	if !ok {
		return
	}
	s.advance()
	delete(s.live, name)
	object = object.DeepCopy()
	object.ResourceVersion = strconv.Itoa(s.version)
	s.send(watch.Deleted, object)
}

// disconnect ends all watches, for client-go either in order or with an error.
func (s *apiServer) disconnect(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(reason)
}

func (s *apiServer) end(reason error) {
	for w := range s.watches {
		if !w.IsStopped() {
			if status := apierrors.APIStatus(nil); errors.As(reason, &status) {
				answer := status.Status()
				w.Error(&answer)
			}
			w.Stop()
		}
	}
	clear(s.watches)
}

// reject makes all requests fail.
func (s *apiServer) reject(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejection = reason
}

// restart has requests succeed, at a server that does not know the past.
func (s *apiServer) restart() {
	s.reject(nil)
	s.compact()
}

// compact has the server answer all former versions with 410.
func (s *apiServer) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
}

func (s *apiServer) forget() { s.history, s.forgotten = nil, s.version }

func (s *apiServer) uids() map[string]types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	uids := map[string]types.UID{}
	for name, object := range s.live {
		uids[name] = object.UID
	}
	return uids
}

// ofSecrets is the source of the Secrets of an API server.
func ofSecrets(server *apiServer, qualifiers ...Qualifier) Source[*corev1.Secret] {
	return newSource[*corev1.Secret]("secrets", qualifiers, func(_ context.Context, _ sourceKey, tweak func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
		list := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				tweak(&options)
				return server.list(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				tweak(&options)
				return server.watch(ctx, options)
			},
		}
		return cache.NewSharedIndexInformer(list, &corev1.Secret{}, 0, indexers()), nil
	})
}

// quiet discards what informers log about requests that fail.
func quiet(t *testing.T) {
	t.Helper()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	// They delay errors that follow each other by the clock, which begins again with each bubble of synctest.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil //nolint:reassign // there is no other way
	t.Cleanup(func() {
		klog.SetOutput(os.Stderr)
		klog.LogToStderr(true)
		utilruntime.ErrorHandlers = handlers //nolint:reassign // there is no other way
	})
}
