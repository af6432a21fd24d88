/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ko

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// numericUser is a user, and perhaps a group, by number, and not root's.
var numericUser = regexp.MustCompile(`^[1-9]\d*(:[1-9]\d*)?$`)

// inspect pulls an image for every platform and expects it to hold one static program and its data, for a user that is not
// root.
func inspect(t *testing.T, reference string) {
	t.Helper()
	digest, err := name.NewDigest(reference)
	if err != nil {
		t.Fatalf("%s is not pinned by its digest: %v", reference, err)
	}
	index, err := remote.Index(digest, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatalf("%s is no image for several platforms: %v", reference, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var architectures []string
	for _, descriptor := range manifest.Manifests {
		architectures = append(architectures, descriptor.Platform.Architecture)
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		inspectImage(t, path.Base(digest.RepositoryStr()), descriptor.Platform, image)
	}
	if slices.Sort(architectures); !slices.Equal(architectures, []string{"amd64", "arm64"}) {
		t.Errorf("%s is for %v, want amd64 and arm64", reference, architectures)
	}
}

func inspectImage(t *testing.T, program string, platform *v1.Platform, image v1.Image) {
	t.Helper()
	where := program + " for " + platform.String()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if !numericUser.MatchString(config.Config.User) {
		t.Errorf("%s runs as user %q, want a number other than 0", where, config.Config.User)
	}
	if entrypoint := []string{"/ko-app/" + program}; !slices.Equal(config.Config.Entrypoint, entrypoint) || len(config.Config.Cmd) > 0 {
		t.Errorf("%s runs %q %q, want %q", where, config.Config.Entrypoint, config.Config.Cmd, entrypoint)
	}
	if version := config.Config.Labels["org.opencontainers.image.version"]; version != testVersion {
		t.Errorf("%s has the version %q, want %q", where, version, testVersion)
	}
	if config.OS != "linux" || config.Architecture != platform.Architecture {
		t.Errorf("%s says that it is for %s/%s", where, config.OS, config.Architecture)
	}
	files := unpack(t, image)
	var data []string
	for file, content := range files {
		switch {
		case file == "ko-app/"+program:
			expectStatic(t, where, platform.Architecture, content)
		case strings.HasPrefix(file, "var/run/ko/"):
			data = append(data, strings.TrimPrefix(file, "var/run/ko/"))
		default:
			t.Errorf("%s holds %s, which is neither its program nor its data", where, file)
		}
	}
	if files["ko-app/"+program] == nil {
		t.Errorf("%s lacks its program", where)
	}
	for _, want := range []string{"LICENSE", "third_party/licenses.csv", "third_party/knative.dev/pkg/LICENSE"} {
		if !slices.Contains(data, want) {
			t.Errorf("%s comes without %s: its data are %d files", where, want, len(data))
		}
	}
}

// unpack returns the regular files of an image by their path. Anything that is neither a file nor a folder is an error.
func unpack(t *testing.T, image v1.Image) map[string][]byte {
	t.Helper()
	reader := mutate.Extract(image)
	defer func() { _ = reader.Close() }()
	files := map[string][]byte{}
	archive := tar.NewReader(reader)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		file := strings.TrimPrefix(path.Clean(header.Name), "/")
		switch header.Typeflag {
		case tar.TypeDir:
		case tar.TypeReg:
			if files[file], err = io.ReadAll(archive); err != nil {
				t.Fatal(err)
			}
			if header.Mode&0o6222 != 0 {
				t.Errorf("%s has mode %o: other users can write it, or it changes its user", file, header.Mode)
			}
		default:
			t.Errorf("%s is neither a file nor a folder, but %q", file, header.Typeflag)
		}
	}
}

func expectStatic(t *testing.T, where, architecture string, content []byte) {
	t.Helper()
	program, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Errorf("%s: the program is no ELF file: %v", where, err)
		return
	}
	if program.Machine != machines[architecture] {
		t.Errorf("%s: the program is for %v", where, program.Machine)
	}
	libraries, err := program.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("%s: the program needs the libraries %q (%v)", where, libraries, err)
	}
	for _, segment := range program.Progs {
		if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
			t.Errorf("%s: the program is not static: it has a segment %v", where, segment.Type)
		}
	}
}
