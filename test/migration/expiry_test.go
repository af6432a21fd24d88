/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// expireEachPage has the continue token of every page expire, as etcd's compaction does with one that is five minutes old:
// the API server's error carries a token that continues at the present revision. A page has so many objects.
func expireEachPage(t *testing.T, pageSize int, expired *int) func(http.RoundTripper) http.RoundTripper {
	t.Helper()
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			query := r.URL.Query()
			if r.Method != http.MethodGet || !query.Has("limit") {
				return next.RoundTrip(r)
			}
			if fresh := atPresent(t, query.Get("continue")); fresh != "" {
				*expired++
				status := apierrors.NewResourceExpired("the continue parameter is too old").ErrStatus
				status.Kind, status.APIVersion, status.Continue = "Status", "v1", fresh
				body, err := json.Marshal(status)
				if err != nil {
					return nil, err
				}
				return &http.Response{
					StatusCode: http.StatusGone, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(bytes.NewReader(body)), Request: r,
				}, nil
			}
			r = r.Clone(r.Context())
			query.Set("limit", strconv.Itoa(pageSize))
			r.URL.RawQuery = query.Encode()
			return next.RoundTrip(r)
		})
	}
}

// atPresent makes a continue token one that continues at the present revision, and returns "" if there is nothing to be made.
func atPresent(t *testing.T, token string) string {
	t.Helper()
	if token == "" {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	const present = -1
	if content["rv"] == float64(present) {
		return ""
	}
	content["rv"] = present
	if text, err = json.Marshal(content); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func TestMigrate_ContinueTokensExpire_RunFinishes(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	const n, pageSize = 23, 5
	k.store(t, n)
	k.storeAt(t, "v1")
	expired := 0
	config := rest.CopyConfig(k.env.Config)
	config.Wrap(expireEachPage(t, pageSize, &expired))
	m := k.migratorAs(config, nil)
	written, err := m.Migrate(t.Context(), k.resource.String())
	if err != nil {
		t.Fatal(err)
	}
	if want := n / pageSize; written != n || expired != want {
		t.Errorf("%d objects were written after %d expired tokens, want %d after %d", written, expired, n, want)
	}
	k.expectStored(t, n)
}
