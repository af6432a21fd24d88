/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
)

// maxManifest bounds a manifest, in bytes, as registries do.
const maxManifest = 4 << 20

// kept is a manifest in its file.
type kept struct {
	Path        string `json:"path"`
	ContentType string `json:"contentType"`
	Body        []byte `json:"body"`
}

// keepManifests writes each manifest that the registry accepts to a file, because it holds them in memory only.
func keepManifests(next http.Handler, dir string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !strings.Contains(req.URL.Path, "/manifests/") || req.Method != http.MethodPut && req.Method != http.MethodDelete {
			next.ServeHTTP(w, req)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxManifest))
		if err != nil {
			http.Error(w, "reading the manifest: "+err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		m := kept{Path: req.URL.Path, ContentType: req.Header.Get("Content-Type"), Body: body}
		change := m.write
		if req.Method == http.MethodDelete {
			change = m.remove
		}
		next.ServeHTTP(&keeper{ResponseWriter: w, change: func() error { return change(dir) }}, req)
	})
}

// keeper makes a change before the registry reports success to the client.
type keeper struct {
	http.ResponseWriter

	change func() error
	failed bool
}

// WriteHeader makes the change if the answer is a success, and turns the answer into an error if that fails.
func (k *keeper) WriteHeader(code int) {
	if code >= http.StatusOK && code < http.StatusMultipleChoices {
		if err := k.change(); err != nil {
			k.failed = true
			http.Error(k.ResponseWriter, "keeping the manifest: "+err.Error(), http.StatusInsufficientStorage)
			return
		}
	}
	k.ResponseWriter.WriteHeader(code)
}

// Write leaves out what belongs to a success that has become an error.
func (k *keeper) Write(data []byte) (int, error) {
	if k.failed {
		return len(data), nil
	}
	return k.ResponseWriter.Write(data) //nolint:wrapcheck // it is the same writer
}

func (m *kept) file(dir string) string {
	sum := sha256.Sum256([]byte(m.Path))
	return filepath.Join(dir, hex.EncodeToString(sum[:])+".json")
}

func (m *kept) write(dir string) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding it: %w", err)
	}
	temp := m.file(dir) + ".tmp"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return fmt.Errorf("writing it: %w", err)
	}
	if err := os.Rename(temp, m.file(dir)); err != nil {
		return fmt.Errorf("writing it: %w", err)
	}
	return nil
}

func (m *kept) remove(dir string) error {
	if err := os.Remove(m.file(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing it: %w", err)
	}
	return nil
}

// loadManifests gives the manifests of an earlier start to the registry. An index is accepted only after the images that
// it names, so rejected ones are retried as long as others are accepted.
func loadManifests(handler http.Handler, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return fmt.Errorf("listing the registry's manifests: %w", err)
	}
	var waiting []kept
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a manifest of the registry: %w", err)
		}
		var m kept
		if err := json.Unmarshal(data, &m); err != nil {
			return fmt.Errorf("reading the registry's manifest %s: %w: remove the file, and push its image again", file, err)
		}
		waiting = append(waiting, m)
	}
	for {
		var rejected []kept
		for _, m := range waiting {
			if !put(handler, m) {
				rejected = append(rejected, m)
			}
		}
		// A manifest that is still rejected has lost its parts; pulling the image reports that.
		if len(rejected) == 0 || len(rejected) == len(waiting) {
			return nil
		}
		waiting = rejected
	}
}

func put(handler http.Handler, m kept) bool {
	request, err := http.NewRequest(http.MethodPut, m.Path, bytes.NewReader(m.Body)) //nolint:noctx // it is answered in the process
	if err != nil {
		return false
	}
	request.Header.Set("Content-Type", m.ContentType)
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	return response.Code >= http.StatusOK && response.Code < http.StatusMultipleChoices
}
