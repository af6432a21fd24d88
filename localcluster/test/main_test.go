/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// binary is the program under test.
var binary string

// release is the release of Kubernetes that the program under test should have.
var release = map[string]string{"": "v1.35.6", "1.34": "v1.34.4", "1.36": "v1.36.3"}[os.Getenv("LOCALCLUSTER_KUBERNETES")]

// shared is the cluster that tests use which do not care how it was started. It is started by the first of them.
var shared = share("up", "--until-eof")

// used holds the shared clusters that have been started. Tests start them one after the other.
var used []func() (*process, error)

// share returns a function that starts a cluster when it is first called.
func share(args ...string) func() (*process, error) {
	var start func() (*process, error)
	start = sync.OnceValues(func() (*process, error) {
		used = append(used, start)
		return launch(args...)
	})
	return start
}

func TestMain(m *testing.M) {
	if helper(os.Args) {
		return
	}
	var err error
	if binary, err = build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	for _, cluster := range used {
		if p, err := cluster(); err == nil {
			p.end()
		}
	}
	os.Exit(code)
}

// build builds the program as users get it: with the versions linked in, from the user's cache.
func build() (string, error) {
	cmd := exec.Command("go", "run", "./cmd/localcluster", "build")
	cmd.Dir = "../env"
	cmd.Stderr = os.Stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building the program under test: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}
