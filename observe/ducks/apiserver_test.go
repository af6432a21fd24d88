/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ducks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// apiServer serves lists and watches of any resource as the API server does,
// where client-go's fake would list without a request, watch without versions and reject nothing.
type apiServer struct {
	dynamic.Interface

	mu        sync.Mutex
	version   int
	objects   map[string]object      // by name, all of one resource
	history   []event                // what happened, one for each version
	watchers  map[chan event]bool    // the watches that are open
	rejection *apierrors.StatusError // the answer to everything, if set
	hold      chan struct{}          // if set, nothing is answered before it is closed
	holds     string                 // the resource that hold is for, all if empty
	lists     int                    // number of list requests
	watches   int                    // number of watch requests

	failures      int                    // how many requests are answered with errNotConverted before all else
	rejectWatches *apierrors.StatusError // the answer to watches, if set
}

type object = map[string]any

type event struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{objects: map[string]object{}, watchers: map[chan event]bool{}}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	var err error
	if s.Interface, err = dynamic.NewForConfig(&rest.Config{Host: server.URL, QPS: -1}); err != nil {
		t.Fatal(err)
	}
	return s
}

// newDuck is an object of kind Duck whose status is what is given.
func newDuck(name string, status any) object {
	return object{
		"apiVersion": "example.com/v1", "kind": "Duck",
		"metadata": object{"namespace": "ns", "name": name},
		"spec":     object{"secret": "of no interest"},
		"status":   status,
	}
}

// addressed is the status of a duck that has an address.
func addressed(url string) object { return object{"address": object{"url": url}} }

// put stores an object and sends an event to every watch.
func (s *apiServer) put(obj object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	meta, ok := obj["metadata"].(object)
	if !ok {
		panic("an object without metadata")
	}
	name := fmt.Sprint(meta["name"])
	s.version++
	meta["resourceVersion"] = strconv.Itoa(s.version)
	e := event{Type: "ADDED", Object: obj}
	if _, ok := s.objects[name]; ok {
		e.Type = "MODIFIED"
	}
	s.objects[name] = obj
	s.history = append(s.history, e)
	s.tell(e)
}

func (s *apiServer) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj := s.objects[name]
	delete(s.objects, name)
	s.version++
	e := event{Type: "DELETED", Object: obj}
	s.history = append(s.history, e)
	s.tell(e)
}

// reject makes all requests fail with an error, or succeed again if it is nil, and ends all watches.
func (s *apiServer) reject(err *apierrors.StatusError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejection = err
	for w := range s.watchers {
		close(w)
		delete(s.watchers, w)
	}
}

func (s *apiServer) tell(e event) {
	for w := range s.watchers {
		w <- e
	}
}

// failNext answers the next n requests with an error, and ends what is being watched.
func (s *apiServer) failNext(n int) {
	s.mu.Lock()
	s.failures = n
	s.mu.Unlock()
	s.reject(nil)
}

// expire ends what is being watched, because the version is too old.
func (s *apiServer) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(event{Type: "ERROR", Object: apierrors.NewResourceExpired("too old").ErrStatus})
}

// counts returns the numbers of list and watch requests.
func (s *apiServer) counts() (lists, watches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, s.watches
}

func (s *apiServer) requests() int {
	lists, watches := s.counts()
	return lists + watches
}

// open returns the number of open watches.
func (s *apiServer) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers)
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	watch := query.Get("watch") != ""

	s.mu.Lock()
	if watch {
		s.watches++
	} else {
		s.lists++
	}
	rejection, hold := s.rejection, s.hold
	if watch && rejection == nil {
		rejection = s.rejectWatches
	}
	if s.failures > 0 {
		s.failures--
		rejection = errNotConverted
	}
	s.mu.Unlock()

	if hold != nil && strings.HasSuffix(r.URL.Path, s.holds) {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case rejection == errNoAnswer:
		panic(http.ErrAbortHandler)
	case rejection != nil:
		w.WriteHeader(int(rejection.ErrStatus.Code))
		write(w, rejection.ErrStatus)
	case watch:
		since, _ := strconv.Atoi(query.Get("resourceVersion"))
		s.watch(w, r, since, query.Get("sendInitialEvents") == "true")
	default:
		write(w, s.list())
	}
}

func (s *apiServer) list() object {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := make([]object, 0, len(s.objects))
	for _, obj := range s.objects {
		items = append(items, obj)
	}
	return object{
		"apiVersion": "example.com/v1", "kind": "DuckList",
		"metadata": object{"resourceVersion": strconv.Itoa(s.version)}, "items": items,
	}
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request, since int, initial bool) {
	events := make(chan event, 100)
	s.mu.Lock()
	if initial {
		for _, obj := range s.objects {
			events <- event{Type: "ADDED", Object: obj}
		}
		events <- event{Type: "BOOKMARK", Object: object{
			"apiVersion": "example.com/v1", "kind": "Duck",
			"metadata": object{
				"resourceVersion": strconv.Itoa(s.version),
				"annotations":     object{metav1.InitialEventsAnnotationKey: "true"},
			},
		}}
	} else {
		for _, e := range s.history[since:] {
			events <- e
		}
	}
	s.watchers[events] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, events)
	}()

	for {
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			write(w, e)
		case <-r.Context().Done():
			return
		}
	}
}

func write(w http.ResponseWriter, v any) {
	content, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	// A client that went away is no fault.
	_, _ = w.Write(append(content, '\n'))
}

// ducks is the resource that the tests read.
var ducks = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ducks"}

var geese = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "geese"}

// rejections are the errors that the API server may return instead of objects.
var rejections = map[string]struct {
	rejection *apierrors.StatusError
	is        func(error) bool
}{
	"forbidden":     {forbidden(), apierrors.IsForbidden},
	"not found":     {notFound(), apierrors.IsNotFound},
	"not converted": {errNotConverted, apierrors.IsInternalError},
}

var (
	errNotConverted = apierrors.NewInternalError(errors.New("conversion webhook failed"))
	// errNoAnswer makes the server cut the connection.
	errNoAnswer = &apierrors.StatusError{}
)

func forbidden() *apierrors.StatusError {
	return apierrors.NewForbidden(ducks.GroupResource(), "", nil)
}

func notFound() *apierrors.StatusError {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "list", ducks.GroupResource(), "", "", 0, true)
}
