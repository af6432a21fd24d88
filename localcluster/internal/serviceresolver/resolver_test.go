/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package serviceresolver

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestResolver_Service_ReturnsAnAddress(t *testing.T) {
	for _, c := range []struct {
		name       string
		annotation string
		port       int32
		want       string
		wantError  string
	}{
		{name: "one port", annotation: "443=127.0.0.1:41234", port: 443, want: "127.0.0.1:41234"},
		{name: "second port", annotation: "443=127.0.0.1:1 9090=127.0.0.1:2", port: 9090, want: "127.0.0.1:2"},
		{name: "more blanks", annotation: "  443=127.0.0.1:1 \n 9090=[::1]:2 ", port: 9090, want: "[::1]:2"},
		{name: "name of a host", annotation: "443=localhost:1", port: 443, want: "localhost:1"},
		{name: "another port", annotation: "443=127.0.0.1:1", port: 80, wantError: "no address for port 80"},
		{name: "empty", annotation: "", port: 80, wantError: "no address for port 80"},
		{name: "no address", annotation: "443", port: 443, wantError: `"443" is not of the form`},
		{name: "no port of the host", annotation: "443=127.0.0.1", port: 443, wantError: "is not of the form"},
		{name: "no host", annotation: "443=:8080", port: 443, wantError: "is not of the form"},
		{name: "port zero", annotation: "443=127.0.0.1:0", port: 443, wantError: "is not of the form"},
		{name: "port not a number", annotation: "https=127.0.0.1:1", port: 443, wantError: "is not of the form"},
		{name: "URL", annotation: "443=https://127.0.0.1:1", port: 443, wantError: "is not of the form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
				Namespace: "pond", Name: "duck", Annotations: map[string]string{Annotation: c.annotation},
			}}
			got, err := Address(svc, c.port)
			if got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
			if c.wantError == "" {
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.wantError) || !strings.Contains(err.Error(), "service pond/duck") {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if _, err := Address(&corev1.Service{}, 1); err == nil || !strings.Contains(err.Error(), "has no annotation "+Annotation) {
		t.Errorf("without the annotation: %v", err)
	}
}

func TestResolver_CachesNotSynced_ReturnsError(t *testing.T) {
	var r Resolver
	if _, err := r.ResolveEndpoint("pond", "duck", 443); err == nil || !strings.Contains(err.Error(), "pond/duck") {
		t.Errorf("before the cluster is up: %v", err)
	}
}
