/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion"
)

func convert(hook func() error) (err error) {
	defer conversion.Recover(&err, &oldWidget{})
	return hook()
}

var errHook = errors.New("the hook's")

func TestRecover_Panic_ReturnsErrorWithTypeAndPlace(t *testing.T) {
	var missing *reference
	for reason, c := range map[string]struct {
		hook func() error
		want string
	}{
		"a text":      {func() error { panic("boom") }, "boom"},
		"an error":    {func() error { panic(errHook) }, "the hook's"},
		"a nil":       {func() error { return errors.New(missing.Name) }, "invalid memory address or nil pointer dereference"},
		"an index":    {func() error { _ = make([]int, 1)[len(reasonOf(t))]; return nil }, "index out of range"},
		"a nil panic": {func() error { panic(nil) }, "panic called with nil argument"},
	} {
		expectCounted(t, "conversion.panics", "", 1, func() {
			err := convert(c.hook)
			if err == nil {
				t.Fatalf("%s: no error", reason)
			}
			const start = "converting *conversion_test.oldWidget: panic in github.com/mallard-dev/mallard/conversion_test.TestRecover_Panic"
			if got := err.Error(); !strings.HasPrefix(got, start) || !strings.Contains(got, " (recover_test.go:") || !strings.Contains(got, c.want) {
				t.Errorf("%s: %v", reason, err)
			}
		})
	}
	if err := convert(func() error { panic(errHook) }); !errors.Is(err, errHook) {
		t.Errorf("%v does not wrap what was panicked with", err)
	}
}

func TestRecover_NoPanic_KeepsTheError(t *testing.T) {
	expectCounted(t, "conversion.panics", "", 0, func() {
		if err := convert(func() error { return errHook }); !errors.Is(err, errHook) {
			t.Errorf("error %v", err)
		}
		if err := convert(func() error { return nil }); err != nil {
			t.Errorf("error %v", err)
		}
	})
}

func reasonOf(t *testing.T) string { t.Helper(); return t.Name() }
