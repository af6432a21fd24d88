/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestProgram_Terminal_ShowsABar(t *testing.T) {
	s := newScene(t)
	controller, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(terminal.Close(), controller.Close()) }) // nothing is left to write
	var shown output
	go func() { _, _ = io.Copy(&shown, controller) }() // it ends with the terminal
	held := s.proxy.Hold(harness.Matching("get", "configmaps").And(harness.InNamespace(s.ns)))
	applying := s.command(strings.Repeat(writeA, 2), "apply", "-", "--namespace", s.ns)
	applying.Stderr = terminal
	if err := applying.Start(); err != nil {
		t.Fatal(err)
	}
	held.Wait(t)
	expect := func(text string) {
		harness.Eventually(t, "the terminal shows "+text, func(context.Context) error {
			if !strings.Contains(shown.String(), text) {
				return fmt.Errorf("it shows %q", &shown)
			}
			return nil
		})
	}
	expect("[                    ] checking operation 1 of 2: CreateOrUpdate")
	held.Release()
	s.ends(applying, 0, "operation 2: CreateOrUpdate ConfigMap $NS/a: Unchanged")
	expect("[==========          ] executing operation 2 of 2: CreateOrUpdate")
}
