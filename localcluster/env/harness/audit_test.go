/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
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
