/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"testing"

	"k8s.io/client-go/rest"
)

// As returns the environment as a user sees it: requests of the result's clients are impersonated, so that the API server authorizes
// them with the user's own permissions. The result shares the processes and the audit log with the environment, and needs no stop.
// Kubectl and Mark still act as the administrator.
func (e *Env) As(t testing.TB, user string) *Env {
	t.Helper()
	as := &Env{
		dir: e.dir, proxies: e.proxies, environment: e.environment, attached: e.attached,
		Kubeconfig: e.Kubeconfig, auditLog: e.auditLog, SystemNamespace: e.SystemNamespace,
	}
	config := rest.CopyConfig(e.Config)
	config.Impersonate.UserName = user
	if err := as.connectWith(config); err != nil {
		t.Fatalf("connecting to the API server as %s: %v", user, err)
	}
	// A user with few permissions might not be allowed to discover everything.
	as.mapper = e.mapper
	return as
}

// Proxied returns a configuration for clients of the test itself, with the administrator's permissions, and the proxy that their requests pass
// until the test ends.
func (e *Env) Proxied(t testing.TB) (*rest.Config, *Proxy) {
	t.Helper()
	return proxied(t, e.Config)
}

func proxied(t testing.TB, upstream *rest.Config) (*rest.Config, *Proxy) {
	t.Helper()
	proxy, err := newProxy(t.Context(), upstream, t.Name())
	if err != nil {
		t.Fatalf("starting a proxy: %v", err)
	}
	t.Cleanup(func() {
		if err := proxy.close(); err != nil {
			t.Error(err)
		}
	})
	config := &rest.Config{Host: proxy.address.URL, TLSClientConfig: rest.TLSClientConfig{CAData: proxy.address.CA}, QPS: upstream.QPS}
	return config, proxy
}
