/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package command

import (
	"os"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/internal/apiserver"
	"github.com/mallard-dev/mallard/localcluster/internal/cluster"
)

// TestUp_RegistryFlagsWithoutRegistry_AreRejected checks that the flags of the registry are rejected where they cannot be kept.
func TestUp_RegistryFlagsWithoutRegistry_AreRejected(t *testing.T) {
	for _, c := range []struct {
		name, system string
		opts         cluster.Options
		portGiven    bool
		want         []string
	}{
		{"on Linux", "linux", cluster.Options{Registry: true, RegistryPort: 5000}, true, nil},
		{"on macOS", "darwin", cluster.Options{Registry: true}, false, []string{"--registry", "darwin", "on Linux", "leave the flag out"}},
		{"not requested on macOS", "darwin", cluster.Options{}, false, nil},
		{"a port without the flag", "linux", cluster.Options{RegistryPort: 5000}, true, []string{"--registry-port", "add --registry"}},
		{"no port", "linux", cluster.Options{Registry: true, RegistryPort: 65536}, true, []string{"--registry-port 65536", "65535"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checkRegistry(c.system, &c.opts, c.portGiven)
			if (err == nil) != (c.want == nil) {
				t.Fatalf("the error is %v", err)
			}
			for _, word := range c.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("no %q in %q", word, err)
				}
			}
		})
	}
}

func TestWithoutProxy_Environment_ExemptsServicesAndWhatUsersExempt(t *testing.T) {
	const services = ".svc,.cluster.local,10.96.0.0/16"
	for name, tc := range map[string]struct{ upper, lower, want string }{
		"nothing is exempt":     {"", "", services},
		"NO_PROXY":              {"example.com,10.0.0.0/8", "", services + ",example.com,10.0.0.0/8"},
		"no_proxy":              {"", "example.com", services + ",example.com"},
		"Go prefers the former": {"example.com", "example.org", services + ",example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NO_PROXY", tc.upper)
			t.Setenv("no_proxy", tc.lower)
			if err := apiserver.WithoutProxy(); err != nil {
				t.Fatal(err)
			}
			if got := os.Getenv("NO_PROXY"); got != tc.want {
				t.Errorf("NO_PROXY is %q, want %q", got, tc.want)
			}
		})
	}
}
