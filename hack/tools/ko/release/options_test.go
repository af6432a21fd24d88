/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBadSettingsAreNamedBeforeAnythingIsBuilt(t *testing.T) {
	good := map[string]string{"KO_DOCKER_REPO": "registry.example.com/mallard", "VERSION": "v1.0.0", "SOURCE_DATE_EPOCH": "0"}
	for name, c := range map[string]struct {
		args     []string
		variable string
		value    string
		want     string
	}{
		"NoRepository":    {variable: "KO_DOCKER_REPO", want: "KO_DOCKER_REPO is not set: it names the repository that the images are pushed to, such as"},
		"BadRepository":   {variable: "KO_DOCKER_REPO", value: "A B", want: "KO_DOCKER_REPO=A B must be a repository"},
		"LocalRepository": {variable: "KO_DOCKER_REPO", value: "ko.local/mallard", want: "is no registry"},
		"BadVersion":      {variable: "VERSION", value: "1.0", want: "VERSION=1.0 must be a version of at most 63 characters such as v1.2.3"},
		"LongVersion":     {variable: "VERSION", value: "v1.0.0-" + strings.Repeat("a", 60), want: "at most 63 characters"},
		"BadDate":         {variable: "SOURCE_DATE_EPOCH", value: "yesterday", want: "SOURCE_DATE_EPOCH=yesterday must be a number of seconds"},
		"EarlyDate":       {variable: "SOURCE_DATE_EPOCH", value: "-1", want: "SOURCE_DATE_EPOCH=-1 must be"},
		"Argument":        {args: []string{"v1.0.0"}, want: `["v1.0.0"]: only flags are known`},
		"Flag":            {args: []string{"--nonsense"}, want: "nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			values := maps.Clone(good)
			if c.variable != "" {
				values[c.variable] = c.value
			}
			dir := t.TempDir()
			var stderr bytes.Buffer
			status := run(t.Context(), append([]string{"--source", dir}, c.args...), environment(values), &bytes.Buffer{}, &stderr)
			if status != exitUsage || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("exit status %d and %q, want %d and %q", status, stderr.String(), exitUsage, c.want)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("it wrote something: %v %v", entries, err)
			}
		})
	}
}

func TestVersionAndDateAreTheCommits(t *testing.T) {
	dir := t.TempDir()
	o := func() (options, error) {
		return parse(t.Context(), []string{"--source", dir}, environment(map[string]string{"KO_DOCKER_REPO": "registry.example.com/mallard"}), &bytes.Buffer{})
	}
	if _, err := o(); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH is not set, and git does not know") {
		t.Errorf("without a commit: got %v, want an error that says what to set", err)
	}
	t.Setenv("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "--message", "a"},
	} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	untagged, err := o()
	if err != nil || !strings.HasPrefix(untagged.version, "v0.0.0-") || !versions.MatchString(untagged.version) {
		t.Errorf("without a tag: got version %q and %v", untagged.version, err)
	}
	if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); !untagged.date.Equal(want) {
		t.Errorf("got date %v, want %v", untagged.date, want)
	}
	if _, err := git(t.Context(), dir, "tag", "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	if tagged, err := o(); err != nil || tagged.version != "v1.2.3" {
		t.Errorf("with a tag: got version %q and %v", tagged.version, err)
	}
	if untagged.output != filepath.Join(dir, "out") {
		t.Errorf("it would write to %s", untagged.output)
	}
}

// tree has a file in each folder that is released, a manifest, and more files.
func tree(manifest string, more map[string]string) map[string]string {
	files := map[string]string{
		"config/a.yaml": manifest, "post-install/a": "", "kustomize/a": "", "samples/a": "", "monitoring/a": "", "LICENSE": "",
	}
	maps.Copy(files, more)
	return files
}

func TestWhatCannotBeReleasedIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"NoManifests": {nil, "reading config: "},
		"NoImages":    {tree("kind: A", nil), "no manifest has an image in ko's form"},
		"NoKoConfig":  {tree("image: ko://example.com/cmd", nil), "reading how images are built"},
		"BadKoConfig": {
			tree("image: ko://example.com/cmd", map[string]string{".ko.yaml": "a: b"}), ".ko.yaml: defaultPlatforms: at least one is needed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range c.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := release(t.Context(), options{source: dir, output: filepath.Join(dir, "out"), repository: "localhost:1/m", version: "v1.0.0"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if entries, err := os.ReadDir(filepath.Join(dir, "out")); err != nil || len(entries) > 0 {
				t.Errorf("it left something behind: %v %v", entries, err)
			}
		})
	}
}
