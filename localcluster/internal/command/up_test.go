/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package command

import (
	"strings"
	"testing"

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
