/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPrune_OldBuilds_AreRemoved(t *testing.T) {
	cache := &cache{dir: t.TempDir()}
	old := time.Now().Add(-keepUnused - time.Hour)
	for name, age := range map[string]time.Time{
		"localcluster-old": old, "localcluster-kept": old, "localcluster-new": time.Now(), "build-killed": time.Now(), "other": old,
	} {
		dir := filepath.Join(cache.dir, name)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.Chtimes(dir, age, age)); err != nil {
			t.Fatal(err)
		}
	}
	cache.prune("kept")
	entries, err := os.ReadDir(cache.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff([]string{"localcluster-kept", "localcluster-new", "other"}, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestVersionFlags_Versions_AreLinked(t *testing.T) {
	flags, err := versionFlags([]byte(smallMod))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=v1.35.4", "-X k8s.io/component-base/version.gitMinor=35",
		"-X k8s.io/client-go/pkg/version.gitMajor=1",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("no %q in %q", want, flags)
		}
	}
	if _, err := versionFlags([]byte("module x\n")); err == nil {
		t.Error("a module without Kubernetes has a version")
	}
}
