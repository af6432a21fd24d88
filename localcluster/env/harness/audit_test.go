/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestMark_LineIsHalfWritten_EntryIsReadWhole uses a fake API server, because the real one writes half a line for a microsecond only.
func TestMark_LineIsHalfWritten_EntryIsReadWhole(t *testing.T) {
	t.Parallel()
	log, err := os.Create(filepath.Join(t.TempDir(), "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	kube := fake.NewClientset()
	kube.PrependReactor("get", "configmaps", func(action k8stesting.Action) (bool, runtime.Object, error) {
		// Each line ends when the next one begins, as those of concurrent requests do.
		name := action.(k8stesting.GetAction).GetName()
		_, err := fmt.Fprintf(log, `ta":"x","verb":"get"}%[1]s{"verb":"get","objectRef":{"name":"%[2]s"}}%[1]s{"da`, "\n", name)
		return false, nil, err
	})
	if _, err := log.WriteString(`{"da`); err != nil {
		t.Fatal(err)
	}
	env := harness.EnvOf(kube, log.Name())
	if entries := env.Mark(t).Entries(t); len(entries) != 3 {
		t.Errorf("got %d entries after the mark, want the 3 that ended after it: %v", len(entries), entries)
	}
}

// A watch can deliver a write before the API server answers it.
func TestMark_RequestWasReceivedBeforeAndAnsweredAfter_IsNotAfterIt(t *testing.T) {
	t.Parallel()
	log, err := os.Create(filepath.Join(t.TempDir(), "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	line := func(verb, name, received string) {
		if _, err := fmt.Fprintf(log, `{"verb":%q,"requestReceivedTimestamp":"2026-01-02T03:04:%s.000000Z","objectRef":{"name":%q}}%s`, verb, received, name, "\n"); err != nil {
			t.Error(err)
		}
	}
	kube := fake.NewClientset()
	kube.PrependReactor("get", "configmaps", func(action k8stesting.Action) (bool, runtime.Object, error) {
		line("get", action.(k8stesting.GetAction).GetName(), "05")
		return false, nil, nil
	})
	mark := harness.EnvOf(kube, log.Name()).Mark(t)
	line("update", "before", "04")
	line("watch", "watch", "04")
	line("update", "after", "06")
	var names []string
	for _, entry := range mark.Entries(t) {
		names = append(names, entry.Name)
	}
	if want := []string{"watch", "after"}; !slices.Equal(names, want) {
		t.Errorf("after the mark are %q, want %q", names, want)
	}
}
