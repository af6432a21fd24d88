/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/internal/environment"
)

func TestConfirm_WithoutATerminal_RequiresTheNameOfTheContext(t *testing.T) {
	t.Parallel()
	input, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = input.Close() }()
	cluster := &environment.Existing{Context: "production", Server: "https://192.0.2.1:6443"}
	for confirmation, want := range map[string]string{
		"":           "CONFIRM: must be set to the current context of KUBECONFIG where no terminal can ask: CONFIRM=production",
		"staging":    "CONFIRM=staging: must be the current context of KUBECONFIG, production",
		"production": "",
	} {
		var printed bytes.Buffer
		err := confirm(t.Context(), &screen{out: &printed}, cluster, confirmation, input)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("CONFIRM=%s: got %v, want %q", confirmation, err, want)
		}
		if !strings.Contains(printed.String(), "context production of KUBECONFIG, server https://192.0.2.1:6443") {
			t.Errorf("CONFIRM=%s: it does not show the cluster: %s", confirmation, printed.String())
		}
	}
}
