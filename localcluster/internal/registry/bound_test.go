/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package registry

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestUpload_TooLarge_IsRejected checks that what is too large is rejected, also if its size is not announced.
func TestUpload_TooLarge_IsRejected(t *testing.T) {
	const limit = 1 << 20
	server := httptest.NewServer(bounded(limit, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})))
	defer server.Close()
	for _, c := range []struct {
		name  string
		size  int
		told  bool
		want  int
		words string
	}{
		{"as large as allowed", limit, true, http.StatusOK, ""},
		{"too large", limit + 1, true, http.StatusRequestEntityTooLarge, "an upload is limited to 1 MiB"},
		{"too large without saying so", limit + 1, false, http.StatusBadRequest, "request body too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var body io.Reader = strings.NewReader(strings.Repeat("x", c.size))
			if !c.told {
				body = io.MultiReader(body)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL, body)
			if err != nil {
				t.Fatal(err)
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			text, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != c.want || !strings.Contains(string(text), c.words) {
				t.Errorf("the answer is %d %q (%v)", response.StatusCode, text, err)
			}
		})
	}
}
