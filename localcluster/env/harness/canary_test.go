/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestCanary_InAnyForm_IsFound(t *testing.T) {
	value, other := harness.Canary(t), harness.Canary(t)
	for _, form := range []string{
		value, base64.StdEncoding.EncodeToString([]byte(value)), url.QueryEscape(value), url.PathEscape(value), fmt.Sprintf("%x", value),
		strings.NewReplacer("<", `\u003c`, "&", `\u0026`).Replace(value), fmt.Sprintf("%d", []byte(value)),
		strings.NewReplacer("<", `\\u003c`, "&", `\\u0026`).Replace(value), // JSON in JSON
		base64.StdEncoding.EncodeToString([]byte(value + "after")), base64.StdEncoding.EncodeToString([]byte("b" + value + "after")),
		base64.StdEncoding.EncodeToString([]byte("be" + value)), fmt.Sprintf("%X", value),
	} {
		text := "before " + form + " after"
		if harness.Leaked(text, value) == "" || harness.Leaked(text, other) != "" {
			t.Errorf("%s: it is not found, or another one is", form)
		}
	}
}

func TestRecord_WhatIsPrinted_IsReturnedAndPrinted(t *testing.T) {
	printed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	file := printed
	text := harness.Record(&file)
	fmt.Fprint(file, "line\n")
	if got := text(); got != "line\n" || file != printed {
		t.Errorf("recorded is %q", got)
	}
	if content, err := os.ReadFile(printed.Name()); err != nil || string(content) != "line\n" {
		t.Errorf("printed is %q, %v", content, err)
	}
}
