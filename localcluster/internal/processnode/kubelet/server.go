/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
	k8scorev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	utilexec "k8s.io/utils/exec"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/logs"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
)

const (
	readHeaderTimeout = 10 * time.Second
	// idleTimeout is how long a stream may be quiet, as with a kubelet.
	idleTimeout     = 4 * time.Hour
	creationTimeout = 30 * time.Second
)

// Pod is what the server needs of a Pod on the Node.
type Pod interface {
	// Log returns the file with a container's output, or with that of the execution before.
	Log(container string, previous bool) (path string, ok bool)
	// Running says whether a container runs.
	Running(container string) bool
	// Exec runs a command in a container and returns its exit code.
	Exec(ctx context.Context, container string, command []string, stdin io.Reader, stdout, stderr io.Writer) (int, error)
	// Address returns where a port is served.
	Address(port int32) (string, error)
}

// Options say how to serve.
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
		Handler:           only(opts.Client, handler(ctx, opts.Pod)),
		ReadHeaderTimeout: readHeaderTimeout,
		ErrorLog:          log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
			ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
		},
		// Streams take over their connection, which HTTP/2 has no way for.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		BaseContext:  func(net.Listener) context.Context { return ctx },
	}
	go func() {
		// It ends by Stop; what else ends it shows as connections that are refused.
		_ = s.server.ServeTLS(listener, "", "")
	}()
	return s, nil
}

// Stop ends the server and all streams.
func (s *Server) Stop() {
	s.cancel()
	_ = s.server.Close()
}

// only lets one client through: the certificates of users come from the same authority.
func only(client string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.TLS == nil || len(req.TLS.PeerCertificates) == 0 || req.TLS.PeerCertificates[0].Subject.CommonName != client {
			http.Error(w, "only the API server may ask this Node", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, req)
	})
}

func handler(ctx context.Context, find func(namespace, name string) (Pod, bool)) http.Handler {
	h := &handlers{ctx: ctx, find: find}
	streams := api.PodHandler(api.PodHandlerConfig{
		RunInContainer: h.exec, PortForward: h.forward,
		StreamIdleTimeout: idleTimeout, StreamCreationTimeout: creationTimeout,
	}, false)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", h.logs)
	mux.Handle("/exec/", streams)
	mux.Handle("/portForward/", streams)
	return mux
}

type handlers struct {
	// ctx ends the streams when the server stops: they are not bound to their request.
	ctx  context.Context
	find func(namespace, name string) (Pod, bool)
}

func (h *handlers) logs(w http.ResponseWriter, req *http.Request) {
	pod, ok := h.find(req.PathValue("namespace"), req.PathValue("pod"))
	if !ok {
		http.Error(w, fmt.Sprintf("pod %q does not exist", req.PathValue("pod")), http.StatusNotFound)
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

func (h *handlers) exec(ctx context.Context, namespace, name, container string, command []string, attach api.AttachIO) error {
	pod, ok := h.find(namespace, name)
	if !ok {
		return fmt.Errorf("pod %q does not exist", name)
	}
	if len(command) == 0 {
		return errors.New("no command")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	stdout, stderr := attach.Stdout(), attach.Stderr()
	if attach.TTY() {
		stderr = stdout
	}
	code, err := pod.Exec(ctx, container, command, attach.Stdin(), writer(stdout), writer(stderr))
	if err != nil {
		return fmt.Errorf("running %q in container %s: %w", command[0], container, err)
	}
	if code != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: code}
	}
	return nil
}

// writer keeps a stream that the client did not ask for from being one that is nil inside.
func writer(stream io.WriteCloser) io.Writer {
	if stream == nil {
		return nil
	}
	return stream
}

func (h *handlers) forward(ctx context.Context, namespace, name string, port int32, stream io.ReadWriteCloser) error {
	pod, ok := h.find(namespace, name)
	if !ok {
		return fmt.Errorf("pod %q does not exist", name)
	}
	address, err := pod.Address(port)
	if err != nil {
		return err //nolint:wrapcheck // it names the Pod and the port
	}
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("connecting to port %d of pod %s: %w", port, name, err)
	}
	defer func() { _ = connection.Close() }()
	defer context.AfterFunc(h.ctx, func() { _ = connection.Close() })()
	go func() {
		_, _ = io.Copy(connection, stream)
		// The client has said all; the answer may still be on its way.
		if half, ok := connection.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	}()
	// An end of either side is the end of the connection.
	_, _ = io.Copy(stream, connection)
	return nil
}
