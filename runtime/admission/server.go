/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	knativetls "knative.dev/pkg/network/tls"
	"knative.dev/pkg/observability/semconv"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/runtime/certificates"
)

const (
	// requestTimeout bounds how long a client may take to send a request, and to read the response. It is the greatest timeout that a
	// webhook can have. The handlers of knative.dev/pkg bound the body to 3 MiB.
	requestTimeout = 30 * time.Second
	// idleTimeout is longer than that of an API server, which otherwise sends requests into connections that are being closed.
	idleTimeout = 5 * time.Minute
	// headerBytes bounds the header of a request.
	headerBytes = 64 << 10
	// lastRequests bounds how long the end waits for requests that are being answered. The API server gives up earlier.
	lastRequests = 10 * time.Second
)

// server serves admission and conversion. That of knative.dev/pkg does not end while the API server keeps its connections busy:
// it waits for a pause in the requests, and is killed with those that it is answering. This one closes each connection with the
// response to its next request once its context has ended.
type server struct {
	handlers []any
}

// Serve serves webhooks, with the options of the context, until ctx ends and the last request has been answered.
func Serve(ctx context.Context, webhooks []any) error {
	s := &server{handlers: webhooks}
	options := webhook.GetOptions(ctx)
	wh, err := webhook.New(ctx, webhooks)
	if err != nil {
		return fmt.Errorf("making the webhook: %w", err)
	}
	// The one of ours that reads informers waits for them itself.
	wh.InformersHaveSynced()
	config, err := knativetls.DefaultConfigFromEnv("WEBHOOK_")
	if err != nil {
		return fmt.Errorf("reading the TLS settings from the environment: %w", err)
	}
	keys := certificates.NewKeys(secretinformer.Get(ctx).Lister().Secrets(system.Namespace()), options.SecretName)
	keys.Configure(config)
	https := newServer(config, s.instrumented(s.handler(ctx, wh, keys), certificates.Host(options)))
	https.Addr = ":" + strconv.Itoa(options.Port)
	ended := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(ended)
		end(ctx, https, options.GracePeriod)
	})
	if err := https.ListenAndServeTLS("", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving webhooks: %w", err)
	}
	<-ended
	return nil
}

func newServer(config *tls.Config, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:   handler,
		TLSConfig: config,
		// ReadTimeout bounds the header, too.
		ReadTimeout:    requestTimeout,
		WriteTimeout:   2 * requestTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: headerBytes,
		// As knative.dev/pkg: HTTP/2 is off, because of what its streams cost a server.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
}

// instrumented records metrics and spans, in which no name is from the client.
func (s *server) instrumented(next http.Handler, host string, options ...otelhttp.Option) http.Handler {
	return otelhttp.NewHandler(next, host, append(options,
		// Without the port, otelhttp takes that of the client's Host header.
		otelhttp.WithServerName(host+":443"),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return s.route(r) }))...)
}

// handler labels and authenticates requests, and closes their connections once ctx has ended.
func (s *server) handler(ctx context.Context, next http.Handler, keys *certificates.Keys) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		labeler, _ := otelhttp.LabelerFromContext(r.Context())
		labeler.Add(semconv.HTTPRoute(s.route(r)))
		authenticated := s.converts(r) || keys.Admits(r.TLS)
		if ctx.Err() != nil || !authenticated {
			w.Header().Set("Connection", "close")
		}
		if !authenticated {
			http.Error(w, "only the API server is admitted, by its client certificate", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// route returns the path of a request if it is served. The paths that clients invent have one name, so that they create no metrics.
func (s *server) route(r *http.Request) string {
	for _, handler := range s.handlers {
		if served, ok := handler.(interface{ Path() string }); ok && served.Path() == r.URL.Path {
			return r.URL.Path
		}
	}
	return "unknown"
}

// converts reports whether a request is for a conversion. The API server has no client certificate for those, and their answers
// contain nothing but the objects of the request.
func (s *server) converts(r *http.Request) bool {
	return slices.ContainsFunc(s.handlers, func(handler any) bool {
		conversion, ok := handler.(webhook.ConversionController)
		return ok && conversion.Path() == r.URL.Path
	})
}

// end serves on until every API server has noticed that this replica is no longer an
// endpoint, and then answers the requests received by then.
func end(ctx context.Context, server *http.Server, grace time.Duration) {
	ctx = context.WithoutCancel(ctx)
	passed, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	<-passed.Done()
	last, cancel := context.WithTimeout(ctx, lastRequests)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		logging.FromContext(ctx).Warnw("Not every request was answered", "error", err)
	}
}
