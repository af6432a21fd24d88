/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"net/http"
	"strings"
	"sync"
)

// disturb is called before a migrator's request goes out, one request at a time, and may do something in the cluster
// first. An error takes the place of the request.
type disturb func(*http.Request) error

func (d disturb) wrap(next http.RoundTripper) http.RoundTripper {
	var mu sync.Mutex
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		err := d(r)
		mu.Unlock()
		if err != nil {
			return nil, err
		}
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// before does something before the first request with a method and an end of its path.
func before(method, path string, do func()) disturb {
	once := sync.OnceFunc(do)
	return func(r *http.Request) error {
		if r.Method == method && strings.HasSuffix(r.URL.Path, path) {
			once()
		}
		return nil
	}
}
