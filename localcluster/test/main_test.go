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

// shared is the cluster that tests use which do not care how it was started. It is started by the first of them.
var shared = sync.OnceValues(func() (*process, error) { return launch("up", "--until-eof") })

func TestMain(m *testing.M) {
	if helper(os.Args) {
		return
	}
	var err error
	if binary, err = build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	sharedUsed := false
	start := shared
	shared = sync.OnceValues(func() (*process, error) {
		sharedUsed = true
		return start()
	})
	code := m.Run()
	if sharedUsed {
		if p, err := shared(); err == nil {
			p.end()
		}
	}
	os.Exit(code)
}

// build makes the program as everyone else gets it: with the versions linked in, from the user's cache.
func build() (string, error) {
	cmd := exec.Command("go", "run", "./hack/localcluster", "build")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building the program under test: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}
