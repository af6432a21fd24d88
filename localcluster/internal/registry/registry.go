/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
)

const (
	// maxUpload bounds one request's body, in bytes. The registry keeps the parts of an upload in memory until it is whole.
	maxUpload = 512 << 20

	readHeaderTimeout = 10 * time.Second
	loopback          = "127.0.0.1"
)

// Registry is a registry that serves.
type Registry struct {
	// Host is its address, as it stands at the front of an image's name: "127.0.0.1:5000".
	Host string

	server *http.Server
	done   chan struct{}
	err    error
}

// Start serves what a folder holds, which is made if it is missing. Port 0 stands for the port that the folder was served
// on before, since the names of images contain it, or for any free one. Errors name --registry-port where it is the cause.
func Start(ctx context.Context, dir string, port int) (*Registry, error) {
	for _, sub := range []string{blobsDir(dir), manifestsDir(dir)} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return nil, fmt.Errorf("making the registry's folder: %w", err)
		}
	}
	listener, err := listen(ctx, dir, port)
	if err != nil {
		return nil, err
	}
	r := &Registry{Host: listener.Addr().String(), done: make(chan struct{})}
	logger := log.New(io.Discard, "", 0)
	handler := ggcr.New(ggcr.WithBlobHandler(ggcr.NewDiskBlobHandler(blobsDir(dir))), ggcr.Logger(logger))
	if err := loadManifests(handler, manifestsDir(dir)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	r.server = &http.Server{
		Handler:           bounded(maxUpload, keepManifests(handler, manifestsDir(dir))),
		ReadHeaderTimeout: readHeaderTimeout,
		ErrorLog:          logger,
	}
	go func() {
		defer close(r.done)
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.err = fmt.Errorf("serving the registry: %w", err)
		}
	}()
	if err := pushBase(ctx, r.Host); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

// Done is closed when the registry has ended.
func (r *Registry) Done() <-chan struct{} { return r.done }

// Err returns the reason for which the registry ended, once Done is closed; nil after Stop.
func (r *Registry) Err() error { return r.err }

// Stop ends the registry and the requests that it is answering.
func (r *Registry) Stop() error {
	if err := r.server.Close(); err != nil {
		return fmt.Errorf("stopping the registry: %w", err)
	}
	<-r.done
	return nil
}

// Serves reports whether an image's name refers to the registry at the given address. It compares only the beginning of the name, so that
// the registry itself rejects a malformed name.
func Serves(host, image string) bool { return strings.HasPrefix(image, host+"/") }

func blobsDir(dir string) string     { return filepath.Join(dir, "blobs") }
func manifestsDir(dir string) string { return filepath.Join(dir, "manifests") }

// bounded rejects requests whose body has more bytes than an image's layer may have.
func bounded(limit int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.ContentLength > limit {
			http.Error(w, fmt.Sprintf("an upload is limited to %d MiB", limit>>20), http.StatusRequestEntityTooLarge)
			return
		}
		req.Body = http.MaxBytesReader(w, req.Body, limit)
		next.ServeHTTP(w, req)
	})
}

// listen opens the requested port, or that of the last start, or any free one, and notes which it was.
func listen(ctx context.Context, dir string, port int) (net.Listener, error) {
	file := filepath.Join(dir, "port")
	before := false
	if port == 0 {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the registry's last port: %w", err)
		}
		if number, err := strconv.Atoi(string(text)); err == nil {
			port, before = number, true
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && before:
		return nil, fmt.Errorf("port %d, which this cluster's images are named by, is taken by another program: end that one, "+
			"or choose another with --registry-port and push the images again", port)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--registry-port %d is taken by another program: choose another one, or 0 for any free one", port)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--registry-port %d is not open to this user: choose one from 1024 on, or 0 for any free one", port)
	case err != nil:
		return nil, fmt.Errorf("--registry-port %d: %w", port, err)
	}
	_, text, err := net.SplitHostPort(listener.Addr().String())
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("noting the registry's port: %w", err), listener.Close())
	}
	return listener, nil
}
