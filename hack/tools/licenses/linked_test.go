/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-licenses/v2/licenses"
)

func TestOnlyLicencesThatAskToBePassedOnAreAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		found []licenses.License
		want  string // empty: refused
	}{
		"Notice":       {[]licenses.License{{Name: "Apache-2.0", Type: licenses.Notice}}, "Apache-2.0"},
		"Several":      {[]licenses.License{{Name: "MIT", Type: licenses.Notice}, {Name: "BSD-3-Clause", Type: licenses.Notice}}, "BSD-3-Clause AND MIT"},
		"SourceAtHand": {[]licenses.License{{Name: "MPL-2.0", Type: licenses.Reciprocal}}, "MPL-2.0"},
		"Reciprocal":   {[]licenses.License{{Name: "EPL-1.0", Type: licenses.Reciprocal}}, ""},
		"Restricted":   {[]licenses.License{{Name: "MIT", Type: licenses.Notice}, {Name: "GPL-3.0", Type: licenses.Restricted}}, ""},
		"Forbidden":    {[]licenses.License{{Name: "AGPL-3.0", Type: licenses.Forbidden}}, ""},
		"Unknown":      {[]licenses.License{{Name: "", Type: licenses.Unknown}}, ""},
		"None":         {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := allowed("example.com/it", c.found)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q and %v, want %q", got, err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), "example.com/it") {
				t.Errorf("the error does not name the package: %v", err)
			}
		})
	}
}

func TestModuleOfAFolderOfTheCache(t *testing.T) {
	got, err := escapedPath("/cache/mod/github.com/!azure/sdk", []string{"github.com/Azure/sdk/sub"})
	if err != nil || got != "github.com/Azure/sdk" {
		t.Errorf("got %q and %v", got, err)
	}
	if got, err := escapedPath("/elsewhere/code", []string{"github.com/Azure/sdk"}); err == nil {
		t.Errorf("a folder of no module is that of %q", got)
	}
}

// A module of this repository's would have no version, and an unknown licence must not pass in silence.
func TestAPackageWithoutALicenceIsNamed(t *testing.T) {
	_, err := newComponent(&licenses.Library{Packages: []string{"example.com/bare"}})
	if err == nil || !strings.Contains(err.Error(), "example.com/bare has no licence") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsWrittenReplacesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	licence, output := filepath.Join(dir, "LICENSE"), filepath.Join(dir, "third_party")
	for file, text := range map[string]string{licence: "do\r\nas you like\r\n", filepath.Join(output, "old", "LICENSE"): "gone"} {
		if err := writeText(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	err := writeAll(output, []component{{module: "example.com/m", version: "v1.0.0", licence: "MIT", files: map[string]string{"LICENSE": licence}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(output, "old")); !os.IsNotExist(err) {
		t.Errorf("what was there before is left: %v", err)
	}
	for file, want := range map[string]string{
		"licenses.csv":          "module,version,licence,file\nexample.com/m,v1.0.0,MIT,example.com/m/LICENSE\n",
		"example.com/m/LICENSE": "do\nas you like\n",
	} {
		if got, err := os.ReadFile(filepath.Join(output, file)); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", file, got, err, want)
		}
	}
}

func TestBadArgumentsAreNamed(t *testing.T) {
	for want, args := range map[string][]string{
		"the packages of the programs are missing":                      {},
		`platform "linux" must be a system and an architecture such as`: {"--root", ".", "--platforms", "linux", "./..."},
		"flag provided but not defined: -nonsense":                      {"--nonsense"},
		"no such file or directory":                                     {"--root", "/nonexistent", "./..."},
	} {
		t.Run(want, func(t *testing.T) {
			t.Chdir(".") // what it changes is put back
			var stderr bytes.Buffer
			if status := run(t.Context(), args, &stderr); status == 0 || !strings.Contains(stderr.String(), want) {
				t.Errorf("exit status %d and %q, want %q", status, stderr.String(), want)
			}
		})
	}
}
