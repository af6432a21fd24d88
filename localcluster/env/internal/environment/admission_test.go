/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

func TestWaitRegistered_ProcessIsReadyFirst_ReturnsOnceTheAPIServerHasTheCA(t *testing.T) {
	t.Parallel()
	const configuration = `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": {"name": "it"},
		"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"name": "webhook"}%s}}]}`
	manifests, err := manifest.Parse(fmt.Appendf(nil, configuration, ""))
	if err != nil {
		t.Fatal(err)
	}
	late := errors.New("late")
	for name, tc := range map[string]struct {
		service    string // that a process of the environment serves
		registered int    // the number of the first read with the CA
		reads      int
		want       string
	}{
		"registered later":     {"webhook", 3, 3, ""},
		"never registered":     {"webhook", 0, 3, "waiting for the CA in MutatingWebhookConfiguration it: late"},
		"served by no process": {"other", 0, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			reads := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				ca := ""
				if reads++; reads == tc.registered {
					ca = `, "caBundle": "Q0E="`
				} else if tc.want != "" && reads == tc.reads {
					defer cancel(late)
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, configuration, ca)
			}))
			defer server.Close()
			e := &Env{Manifests: manifests, Config: &rest.Config{Host: server.URL}}
			err := e.waitRegistered(ctx, func(service string) bool { return service == tc.service })
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) || reads != tc.reads {
				t.Errorf("after %d reads the error is %v, want %q after %d", reads, err, tc.want, tc.reads)
			}
		})
	}
}
