/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// Proxy stands between one process and the API server. It passes requests on with the credentials that they came with,
// and can disturb them in the ways in which a network and a server do.
type Proxy struct {
	server   *http.Server
	listener *trackingListener
	address  processes.Server
	forward  *httputil.ReverseProxy

	mu     sync.Mutex
	rules  []*rule
	counts map[Answer]int
	// running are the requests that are being answered.
	running map[*Request]*answering
}

// answering is a request that is being answered.
type answering struct {
	cancel context.CancelCauseFunc
	// done is closed once nothing more is written.
	done chan struct{}
}

// Answer is the key by which the proxy counts requests.
type Answer struct {
	Verb, Group, Resource, Subresource string
	Code                               int
}

// rule is one disturbance.
type rule struct {
	match Match
	// before is called before the request is passed on; false ends it there.
	before func(http.ResponseWriter, *http.Request, Request) bool
	// writer changes how the response is written; nil leaves it as it is.
	writer func(context.Context, http.ResponseWriter) http.ResponseWriter
}

// newProxy starts a proxy on a free port of 127.0.0.1. It speaks TLS with its own certificate, since client-go sends
// no token without. Requests are passed on with the credentials of upstream, if it has any.
func newProxy(ctx context.Context, upstream *rest.Config, process string) (*Proxy, error) {
	target, err := url.Parse(upstream.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	transport, err := rest.TransportFor(upstream)
	if err != nil {
		return nil, fmt.Errorf("making a transport to the API server: %w", err)
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making the certificate of a proxy: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of a proxy: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the port of a proxy: %w", err)
	}
	p := &Proxy{
		listener: &trackingListener{Listener: listener, open: map[*trackedConn]struct{}{}},
		address:  processes.Server{URL: "https://" + listener.Addr().String(), CA: certificate},
		counts:   map[Answer]int{},
		running:  map[*Request]*answering{},
	}
	quiet := log.New(io.Discard, "", 0)
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// Replicas have the same account; see ByProcess.
			r.Out.Header.Set("User-Agent", r.In.UserAgent()+processMark(process))
		},
		Transport: transport,
		// Each watch event is forwarded at once.
		FlushInterval: -1,
		ErrorLog:      quiet,
	}
	p.server = &http.Server{
		Handler:   p,
		ErrorLog:  quiet,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
	}
	go func() { _ = p.server.ServeTLS(p.listener, "", "") }()
	return p, nil
}

// close ends the proxy with all its connections.
func (p *Proxy) close() error {
	p.listener.cut()
	if err := p.server.Close(); err != nil {
		return fmt.Errorf("closing a proxy: %w", err)
	}
	return nil
}

// errEnded is the cause of the end of a request that EndWatches has ended.
var errEnded = errors.New("the watch was ended")

// EndWatches ends the watches that run and match, as the API server does after their timeout. No event passes once it has returned. They may
// be opened again.
func (p *Proxy) EndWatches(match Match) {
	for _, watch := range p.watches(match) {
		watch.cancel(errEnded)
		<-watch.done
	}
}

// Watches returns the number of watches that run and match.
func (p *Proxy) Watches(match Match) int { return len(p.watches(match)) }

func (p *Proxy) watches(match Match) (found []*answering) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r, a := range p.running {
		if r.Verb == "watch" && match(*r) {
			found = append(found, a)
		}
	}
	return found
}

// run notes a request that is being answered until done is called.
func (p *Proxy) run(r *Request, cancel context.CancelCauseFunc) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &answering{cancel: cancel, done: make(chan struct{})}
	p.running[r] = a
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.running, r)
		close(a.done)
	}
}

// Requests returns the numbers of requests that have been answered so far, by request and response. A request counts once its response has
// been sent, a watch when it ends, so the effect of a write may be visible before the write counts: wait for it with [Eventually].
func (p *Proxy) Requests() map[Answer]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// Fail answers the requests that match with an HTTP status, instead of passing them on, until undo is called.
func (p *Proxy) Fail(match Match, code int) (undo func()) {
	return p.add(&rule{match: match, before: func(w http.ResponseWriter, _ *http.Request, _ Request) bool {
		reject(w, code)
		return false
	}})
}

// FailOnce answers the next request that matches with an HTTP status, instead of passing it on. done is closed then.
func (p *Proxy) FailOnce(match Match, code int) (done <-chan struct{}) {
	failed := make(chan struct{})
	var first sync.Once
	p.add(&rule{match: match, before: func(w http.ResponseWriter, _ *http.Request, _ Request) (pass bool) {
		pass = true
		first.Do(func() {
			reject(w, code)
			close(failed)
			pass = false
		})
		return pass
	}})
	return failed
}

func reject(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(code)
	err := json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reasons[code], Message: rejection,
	})
	if err != nil {
		// The client does not wait any more.
		panic(http.ErrAbortHandler)
	}
}

// reasons are the reasons by which client-go distinguishes errors.
var reasons = map[int]metav1.StatusReason{
	http.StatusConflict:            metav1.StatusReasonConflict,
	http.StatusForbidden:           metav1.StatusReasonForbidden,
	http.StatusGatewayTimeout:      metav1.StatusReasonTimeout,
	http.StatusGone:                metav1.StatusReasonExpired,
	http.StatusInternalServerError: metav1.StatusReasonInternalError,
	http.StatusNotFound:            metav1.StatusReasonNotFound,
	http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
	http.StatusTooManyRequests:     metav1.StatusReasonTooManyRequests,
}

// PauseWatches keeps back the events of the watches that match, those that run already too, until resume is called. They
// arrive then, in order and complete.
func (p *Proxy) PauseWatches(match Match) (resume func()) {
	gate := make(chan struct{})
	isWatch := Match(func(r Request) bool { return r.Verb == "watch" })
	remove := p.add(&rule{match: isWatch.And(match), writer: func(ctx context.Context, w http.ResponseWriter) http.ResponseWriter {
		return &gatedWriter{ResponseWriter: w, ctx: ctx, gate: gate}
	}})
	return sync.OnceFunc(func() {
		remove()
		close(gate)
	})
}

func (p *Proxy) add(r *rule) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rules = slices.DeleteFunc(p.rules, func(other *rule) bool { return other == r })
	}
}

func (p *Proxy) matching(r Request) []*rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.rules), func(rule *rule) bool { return !rule.match(r) })
}

// ServeHTTP passes a request on, or applies the rules to it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, httpRequest *http.Request) {
	r := requestOf(httpRequest.Method, httpRequest.URL)
	if r.Verb == "create" && r.Name == "" {
		r.Name = nameInBody(httpRequest)
	}
	ctx, cancel := context.WithCancelCause(httpRequest.Context())
	defer cancel(nil)
	defer p.run(&r, cancel)()
	defer func() {
		// An abort resets the connection, which is another error for a client than an end.
		if reason := recover(); reason != nil && (reason != any(http.ErrAbortHandler) || !errors.Is(context.Cause(ctx), errEnded)) {
			panic(reason)
		}
	}()
	httpRequest = httpRequest.WithContext(ctx)
	recorder := &recordingWriter{ResponseWriter: w, proxy: p, request: r, ctx: httpRequest.Context()}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.counts[Answer{Verb: r.Verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Code: recorder.code}]++
	}()
	for _, rule := range p.matching(r) {
		if rule.before != nil && !rule.before(recorder, httpRequest, r) {
			return
		}
	}
	p.forward.ServeHTTP(recorder, httpRequest)
}
