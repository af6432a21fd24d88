/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Lose passes the requests that match on, and cuts the connection instead of returning the response, until undo is called: a write is
// committed, and the process never learns of it. A watch is cut at once, since its response does not end.
func (p *Proxy) Lose(match Match) (undo func()) {
	return p.add(&rule{match: match, before: func(_ http.ResponseWriter, httpRequest *http.Request, r Request) bool {
		if r.Verb != "watch" {
			p.forward.ServeHTTP(httptest.NewRecorder(), httpRequest)
		}
		panic(http.ErrAbortHandler)
	}})
}

// Garble passes the requests that match on, and returns a response that cannot be decoded, until undo is called.
func (p *Proxy) Garble(match Match) (undo func()) {
	return p.add(&rule{match: match, before: func(w http.ResponseWriter, httpRequest *http.Request, r Request) bool {
		if r.Verb != "watch" {
			p.forward.ServeHTTP(httptest.NewRecorder(), httpRequest)
		}
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		_, _ = io.WriteString(w, `{"kind": `)
		return false
	}})
}

// Cut closes every connection at once, running watches among them, and every new one until Restore is called: the
// process is alone in the world.
func (p *Proxy) Cut() { p.listener.cut() }

// DropPackets makes the open connections lose all data, in both directions and indefinitely, as behind a firewall that has forgotten them: neither
// side receives an error. New connections work.
func (p *Proxy) DropPackets() { p.listener.drop() }

// Restore ends a Cut.
func (p *Proxy) Restore() { p.listener.restore() }

// Reset closes the connections that are open with a TCP reset, as a load balancer that restarts does. New connections work.
func (p *Proxy) Reset() { p.listener.reset() }

// GoAway makes the connections of the matching requests announce that they end, until undo is called: a running request continues, and
// the next request needs another. The API server does so with --goaway-chance.
func (p *Proxy) GoAway(match Match) (undo func()) {
	return p.add(&rule{match: match, before: func(w http.ResponseWriter, _ *http.Request, _ Request) bool {
		// For HTTP/2, net/http sends GOAWAY instead.
		w.Header().Set("Connection", "close")
		return true
	}})
}

// Rejected returns the number of connections that have been closed so far, because of Cut.
func (p *Proxy) Rejected() int {
	p.listener.mu.Lock()
	defer p.listener.mu.Unlock()
	return p.listener.rejected
}

// Count counts the requests that match, and disturbs none of them. It counts those that a later disturbance answers, too.
func (p *Proxy) Count(match Match) (sent func() int) {
	var n atomic.Int64
	p.add(&rule{match: match, before: func(http.ResponseWriter, *http.Request, Request) bool {
		n.Add(1)
		return true
	}})
	return func() int { return int(n.Load()) }
}

// nameInBody is the name of the object that a request creates, which is not in its path. The body can be read again afterwards.
func nameInBody(r *http.Request) string {
	// What cannot be read to its end is not sent to its end either, and the API server says so.
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	// The clients of built-in kinds send protobuf.
	if object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil); err == nil {
		if accessor, err := meta.Accessor(object); err == nil {
			return accessor.GetName()
		}
	}
	var object metav1.PartialObjectMetadata
	if json.Unmarshal(body, &object) != nil {
		return ""
	}
	return object.Name
}
