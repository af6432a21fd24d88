/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	k8scorev1 "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/logs"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/streams"
)

const (
	readHeaderTimeout = 10 * time.Second
	// idleTimeout is the time for which a stream may be idle, as with a kubelet.
	idleTimeout     = 4 * time.Hour
	creationTimeout = 30 * time.Second
)

// Pod holds the properties of a Pod on the Node that the server needs.
type Pod interface {
	// Log returns the file with a container's output, or with that of the execution before.
	Log(container string, previous bool) (path string, ok bool)
	// Running reports whether a container runs.
	Running(container string) bool
	// Exec runs a command in a container and returns its exit code.
	Exec(ctx context.Context, container string, command []string, stdin io.Reader, stdout, stderr io.Writer) (int, error)
	// Address returns the address at which a port is served.
	Address(port int32) (string, error)
}

// Options configure the server.
type Options struct {
	// CertPEM and KeyPEM are the server's, CAPEM verifies clients, of which only the one with the given name is served.
	CertPEM, KeyPEM, CAPEM []byte
	Client                 string
	// Pod finds a Pod on the Node.
	Pod func(namespace, name string) (Pod, bool)
}

// Server is a server that serves.
type Server struct {
	// Port is that of the loopback interface on which it serves.
	Port int32

	server *http.Server
	cancel context.CancelFunc
}

// Start serves until Stop, on any free port.
func Start(ctx context.Context, opts Options) (*Server, error) {
	pair, err := tls.X509KeyPair(opts.CertPEM, opts.KeyPEM)
	if err != nil {
		return nil, fmt.Errorf("the Node's certificate: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(opts.CAPEM)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(ports.Loopback, "0"))
	if err != nil {
		return nil, fmt.Errorf("serving the Node: %w", err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("serving the Node: %v is no TCP address", listener.Addr())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{Port: int32(address.Port), cancel: cancel} //nolint:gosec // a port
	s.server = &http.Server{
		Handler:           only(opts.Client, handler(opts.Pod)),
		ReadHeaderTimeout: readHeaderTimeout,
		ErrorLog:          log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
			ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
		},
		// Streams take over their connection, which HTTP/2 has no way for.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		// Streams end with the server.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		// It ends by Stop; if it fails otherwise, connections are refused.
		_ = s.server.ServeTLS(listener, "", "")
	}()
	return s, nil
}

// Stop ends the server and all streams.
func (s *Server) Stop() {
	s.cancel()
	_ = s.server.Close()
}

// only admits one client: the certificates of users come from the same authority.
func only(client string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.TLS == nil || len(req.TLS.PeerCertificates) == 0 || req.TLS.PeerCertificates[0].Subject.CommonName != client {
			http.Error(w, "only the API server may ask this Node", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, req)
	})
}

func handler(find func(namespace, name string) (Pod, bool)) http.Handler {
	h := &handlers{find: find, limits: streams.Limits{Creation: creationTimeout, Idle: idleTimeout}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", h.logs)
	// The API server passes on the method of its client, or sends POST itself.
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", h.exec)
	mux.HandleFunc("/portForward/{namespace}/{pod}", h.forward)
	return mux
}

type handlers struct {
	find   func(namespace, name string) (Pod, bool)
	limits streams.Limits
}

// pod finds the Pod that a request is about, or answers the request.
func (h *handlers) pod(w http.ResponseWriter, req *http.Request) (Pod, bool) {
	pod, ok := h.find(req.PathValue("namespace"), req.PathValue("pod"))
	if !ok {
		http.Error(w, fmt.Sprintf("pod %q does not exist", req.PathValue("pod")), http.StatusNotFound)
	}
	return pod, ok
}

func (h *handlers) logs(w http.ResponseWriter, req *http.Request) {
	pod, ok := h.pod(w, req)
	if !ok {
		return
	}
	options := &corev1.PodLogOptions{}
	query := req.URL.Query()
	if err := k8scorev1.Convert_url_Values_To_v1_PodLogOptions(&query, options, nil); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := req.PathValue("container")
	path, ok := pod.Log(name, options.Previous)
	if !ok {
		what := "container %q in pod %q is waiting to start"
		if options.Previous {
			what = "previous terminated container %q in pod %q not found"
		}
		http.Error(w, fmt.Sprintf(what, name, req.PathValue("pod")), http.StatusBadRequest)
		return
	}
	// The header goes out before the first line, so that a client which follows knows that it is connected.
	w.WriteHeader(http.StatusOK)
	stream := &flushing{ResponseWriter: w, control: http.NewResponseController(w)}
	_ = stream.control.Flush()
	running := func() bool { return !options.Previous && pod.Running(name) }
	if err := logs.Read(req.Context(), path, options, running, stream); err != nil && req.Context().Err() == nil {
		fmt.Fprintln(stream, err)
	}
}

// flushing sends each line at once.
type flushing struct {
	http.ResponseWriter

	control *http.ResponseController
}

func (f *flushing) Write(data []byte) (int, error) {
	n, err := f.ResponseWriter.Write(data)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err //nolint:wrapcheck // it is the same writer
}

func (h *handlers) exec(w http.ResponseWriter, req *http.Request) {
	pod, ok := h.pod(w, req)
	if !ok {
		return
	}
	command := req.URL.Query()[corev1.ExecCommandParam]
	if len(command) == 0 {
		http.Error(w, fmt.Sprintf("parameter %s must be given", corev1.ExecCommandParam), http.StatusBadRequest)
		return
	}
	container := req.PathValue("container")
	streams.ServeExec(w, req, h.limits, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
		code, err := pod.Exec(ctx, container, command, stdin, stdout, stderr)
		if err != nil {
			return 0, fmt.Errorf("running %q in container %s: %w", command[0], container, err)
		}
		return code, nil
	})
}

func (h *handlers) forward(w http.ResponseWriter, req *http.Request) {
	pod, ok := h.pod(w, req)
	if !ok {
		return
	}
	streams.ServePortForward(w, req, h.limits, func(ctx context.Context, port int32) (net.Conn, error) {
		address, err := pod.Address(port)
		if err != nil {
			return nil, err
		}
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("connecting to port %d of pod %s: %w", port, req.PathValue("pod"), err)
		}
		return connection, nil
	})
}
