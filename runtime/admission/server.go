/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	corev1informers "k8s.io/client-go/informers/core/v1"

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
	// lastRequests bounds how long the end waits for requests that are being answered. The API server gives up earlier.
	lastRequests = 10 * time.Second
)

// Serve serves webhooks, with the options of the context and the certificate in their Secret, until ctx ends and the last request has been
// answered. The server of knative.dev/pkg does not end while the API server keeps its connections busy: it waits for a pause in the requests, and
// is killed with those that it is answering. This one closes each connection with the response to its next request once ctx has ended. Each
// function of around wraps the handler of knative.dev/pkg.
func Serve(ctx context.Context, secrets corev1informers.SecretInformer, webhooks []any, around ...func(http.Handler) http.Handler) error {
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
	keys := certificates.NewKeys(secrets.Lister().Secrets(system.Namespace()), options.SecretName)
	if err := keys.Follow(secrets.Informer()); err != nil {
		return err
	}
	keys.Configure(config)
	var handler http.Handler = wh
	for _, wrap := range around {
		handler = wrap(handler)
	}
	served := newRoutes(webhooks)
	https := newServer(config, served.instrumented(served.handler(ctx, handler, keys), certificates.Host(options)))
	https.Addr = ":" + strconv.Itoa(options.Port)
	failed := make(chan error, 1)
	go func() { failed <- https.ListenAndServeTLS("", "") }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving webhooks: %w", err)
	case <-ctx.Done():
	}
	// By then, every API server has noticed that this replica is no longer an endpoint.
	<-time.After(options.GracePeriod)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
	defer cancel()
	if err := https.Shutdown(last); err != nil {
		logging.FromContext(ctx).Warnw("Not every request was answered", "error", err)
	}
	return nil
}

func newServer(config *tls.Config, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:   handler,
		TLSConfig: config,
		// ReadTimeout bounds the header, too.
		ReadTimeout:  requestTimeout,
		WriteTimeout: 2 * requestTimeout,
		// Longer than that of an API server, which otherwise sends requests into connections that are being closed.
		IdleTimeout:    5 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		// As knative.dev/pkg: HTTP/2 is off, because of what its streams cost a server.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
}

// routes are the paths that are served. Those that are true convert: the API server has no client certificate for conversions, and their
// answers contain nothing but the objects of the request.
type routes map[string]bool

func newRoutes(webhooks []any) routes {
	served := routes{}
	for _, wh := range webhooks {
		if wh, ok := wh.(interface{ Path() string }); ok {
			_, served[wh.Path()] = wh.(webhook.ConversionController)
		}
	}
	return served
}

// name returns the path of a request if it is served. The paths that clients invent have one name, so that they create no metrics.
func (served routes) name(r *http.Request) string {
	if _, ok := served[r.URL.Path]; ok {
		return r.URL.Path
	}
	return "unknown"
}

// instrumented records metrics and spans, in which no name is from the client.
func (served routes) instrumented(next http.Handler, host string, options ...otelhttp.Option) http.Handler {
	return otelhttp.NewHandler(next, host, append(options,
		// Without the port, otelhttp takes that of the client's Host header.
		otelhttp.WithServerName(host+":443"),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return served.name(r) }))...)
}

// handler labels and authenticates requests, and closes their connections once ctx has ended.
func (served routes) handler(ctx context.Context, next http.Handler, keys *certificates.Keys) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		labeler, _ := otelhttp.LabelerFromContext(r.Context())
		labeler.Add(semconv.HTTPRoute(served.name(r)))
		authenticated := served[r.URL.Path] || keys.Admits(r.TLS)
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
