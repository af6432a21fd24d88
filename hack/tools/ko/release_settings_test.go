/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ko

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var goodSettings = []string{"KO_DOCKER_REPO=registry.example.com/mallard", "VERSION=v1.0.0", "SOURCE_DATE_EPOCH=0"}

// releasable is a folder with hack/release.sh and, by path, other files.
func releasable(t *testing.T, files map[string]string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(root, "hack/release.sh"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(file, content string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("hack/release.sh", string(script), 0o700)
	for file, content := range files {
		write(file, content, 0o600)
	}
	return dir
}

// expectNothingWritten expects no file in out/.
func expectNothingWritten(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(filepath.Join(dir, "out")); err == nil && len(entries) > 0 {
		t.Errorf("it left files behind: %v", entries)
	}
}

func TestSettings_Invalid_AreNamedBeforeTheBuild(t *testing.T) {
	for name, c := range map[string]struct{ setting, want string }{
		"NoRepository":    {"KO_DOCKER_REPO=", "KO_DOCKER_REPO is not set: it names the repository that the images are pushed to, such as"},
		"BadRepository":   {"KO_DOCKER_REPO=A B", "KO_DOCKER_REPO=A B must be a repository"},
		"LocalRepository": {"KO_DOCKER_REPO=ko.local/mallard", "must be in a registry"},
		"BadVersion":      {"VERSION=1.0", "VERSION=1.0 must be a version of at most 63 characters such as v1.2.3"},
		"LongVersion":     {"VERSION=v1.0.0-" + strings.Repeat("a", 60), "at most 63 characters"},
		"BadDate":         {"SOURCE_DATE_EPOCH=yesterday", "SOURCE_DATE_EPOCH=yesterday must be a number of seconds"},
		"EarlyDate":       {"SOURCE_DATE_EPOCH=-1", "SOURCE_DATE_EPOCH=-1 must be"},
		"NoCommit":        {"VERSION=", "VERSION is not set, and git does not know the commit"},
		"NoCommitDate":    {"SOURCE_DATE_EPOCH=", "SOURCE_DATE_EPOCH is not set, and git does not know the date of the commit"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := releasable(t, nil)
			status, _, stderr := release(t, dir, append(slices.Clone(goodSettings), c.setting)...)
			if status != 2 || !strings.Contains(stderr, c.want) {
				t.Errorf("exit status %d and %q, want 2 and %q", status, stderr, c.want)
			}
			expectNothingWritten(t, dir)
		})
	}
}

// manifests has a file in each folder that is released, and a manifest.
func manifests(manifest string) map[string]string {
	return map[string]string{
		"config/a.yaml": manifest, "post-install/a": "", "kustomize/a": "", "samples/a": "", "monitoring/a": "", "LICENSE": "",
	}
}

func TestVersion_UntaggedCommit_NamesTheCommit(t *testing.T) {
	dir := releasable(t, manifests("kind: A"))
	commit(t, dir)
	_, _, stderr := release(t, dir, goodSettings[0])
	if want := "release: Mallard v0.0.0-"; !strings.Contains(stderr, want) || !strings.Contains(stderr, ", dated "+epoch+"\n") {
		t.Errorf("it prints %q, want %q with a commit and the date %s", stderr, want, epoch)
	}
}

func TestSettings_ThatCannotBeReleased_AreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"NoManifests": {nil, "config"},
		"NoImages":    {manifests("kind: A"), "no manifest has an image in the form of ko"},
		"NoKoConfig":  {manifests("image: ko://example.com/cmd"), ".ko.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := releasable(t, c.files)
			status, _, stderr := release(t, dir, goodSettings...)
			if status == 0 || !strings.Contains(stderr, c.want) {
				t.Errorf("exit status %d and %q, want an error with %q", status, stderr, c.want)
			}
			expectNothingWritten(t, dir)
		})
	}
}
