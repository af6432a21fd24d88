/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	knativetls "knative.dev/pkg/network/tls"
	"knative.dev/pkg/observability/semconv"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

const (
	// headerTimeout bounds how long a client may take to say what it wants.
	headerTimeout = time.Minute
	// lastRequests bounds how long the end waits for requests that are being answered. The API server gives up earlier.
	lastRequests = 10 * time.Second
)

// Server serves admission and conversion in place of sharedmain, whose server does not end while the API
// server keeps its connections busy: it waits for a pause that never comes, and is killed
// with the requests that it is answering. This one closes each connection with the
// answer to its next request once it was told to stop. The zero value may be used.
type Server struct {
	handlers []any
	ended    sync.WaitGroup
}

// Serve wraps constructors, of which those of admission and conversion are served from when the last has been called until
// their context ends.
func (s *Server) Serve(ctors ...injection.ControllerConstructor) []injection.ControllerConstructor {
	wrapped := make([]injection.ControllerConstructor, 0, len(ctors))
	for i, ctor := range ctors {
		wrapped = append(wrapped, func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
			impl := ctor(ctx, cmw)
			switch impl.Reconciler.(type) {
			case webhook.AdmissionController, webhook.ConversionController:
				s.handlers = append(s.handlers, impl.Reconciler)
				impl.Reconciler = hide(ctx, impl.Reconciler)
			}
			if i == len(ctors)-1 {
				if err := s.start(ctx); err != nil {
					logging.FromContext(ctx).Fatalw("Serving webhooks failed", "error", err)
				}
			}
			return impl
		})
	}
	return wrapped
}

// Wait returns when the last request has been answered. Its process must not end before.
func (s *Server) Wait() { s.ended.Wait() }

// hide leaves of a reconciler what makes it one, so that sharedmain does not serve it as well.
func hide(ctx context.Context, r controller.Reconciler) controller.Reconciler {
	aware, ok := r.(reconciler.LeaderAware)
	if !ok {
		logging.FromContext(ctx).Fatalf("%T is not leader-aware, which every reconciler has to be", r)
	}
	return struct {
		controller.Reconciler
		reconciler.LeaderAware
	}{r, aware}
}

func (s *Server) start(ctx context.Context) error {
	options := webhook.GetOptions(ctx)
	wh, err := webhook.New(ctx, s.handlers)
	if err != nil {
		return fmt.Errorf("making the webhook: %w", err)
	}
	// The one of ours that looks at informers waits for them itself.
	wh.InformersHaveSynced()
	config, err := knativetls.DefaultConfigFromEnv("WEBHOOK_")
	if err != nil {
		return fmt.Errorf("reading the TLS settings from the environment: %w", err)
	}
	keys := &keys{secrets: secretinformer.Get(ctx).Lister().Secrets(system.Namespace()), name: options.SecretName}
	config.GetCertificate = keys.get
	server := &http.Server{
		Addr: ":" + strconv.Itoa(options.Port),
		Handler: otelhttp.NewHandler(closing(ctx, wh), options.ServiceName,
			otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method + " " + r.URL.Path })),
		TLSConfig:         config,
		ReadHeaderTimeout: headerTimeout,
		// As knative.dev/pkg: HTTP/2 is off, because of what its streams cost a server.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	s.ended.Go(func() {
		if err := server.ListenAndServeTLS("", ""); !errors.Is(err, http.ErrServerClosed) {
			logging.FromContext(ctx).Fatalw("Serving webhooks failed", "error", err)
		}
	})
	s.ended.Go(func() {
		<-ctx.Done()
		end(ctx, server, options.GracePeriod)
	})
	return nil
}

// closing answers requests, and closes their connections once ctx has ended.
func closing(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		labeler, _ := otelhttp.LabelerFromContext(r.Context())
		labeler.Add(semconv.HTTPRoute(r.URL.Path))
		next.ServeHTTP(w, r)
	})
}

// end serves on until every API server has noticed that this replica is no longer an
// endpoint, and then answers what has come.
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

// keys gives the serving certificate. When the secret is spoilt it is the last that was good.
type keys struct {
	secrets corev1listers.SecretNamespaceLister
	name    string

	mu   sync.Mutex
	last *tls.Certificate
}

func (k *keys) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	secret, err := k.secrets.Get(k.name)
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.X509KeyPair(secret.Data[certresources.ServerCert], secret.Data[certresources.ServerKey]); err == nil {
			k.last = &pair
		}
	}
	if k.last == nil {
		return nil, fmt.Errorf("secret %s holds no certificate: %w", k.name, err)
	}
	return k.last, nil
}
