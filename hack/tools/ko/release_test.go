/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ko

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"
)

const (
	testVersion = "v1.2.3-rc.1"
	epoch       = "1700000000"
)

// newRegistry is a registry in this process, as its address.
func newRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// checkout copies the tracked files of the checkout, and those that git does not ignore, to a folder that is not a git repository.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("listing the files of the checkout: %v", err)
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		from, to := filepath.Join(root, file), filepath.Join(dir, file)
		info, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = copyEntry(from, to, info)
		}
		if err != nil {
			t.Fatalf("copying %s: %v", file, err)
		}
	}
	return dir
}

func copyEntry(from, to string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+epoch+" +0000")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

// commit makes a folder a repository with all its files in one commit of the date epoch.
func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message", "a")
}

// release runs hack/release.sh of a folder with settings, and returns its exit status, standard output and standard error.
func release(t *testing.T, dir string, settings ...string) (int, string, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	program := exec.CommandContext(t.Context(), filepath.Join(dir, "hack/release.sh"))
	program.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return slices.Contains([]string{"KO_DOCKER_REPO", "VERSION", "SOURCE_DATE_EPOCH"}, name)
	})
	program.Env = append(program.Env, settings...)
	program.Stdout, program.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := program.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", program, err)
	}
	return program.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// makeRelease makes a release of a checkout, and returns the files that it wrote by their path.
func makeRelease(t *testing.T, source string, settings ...string) map[string]string {
	t.Helper()
	status, stdout, stderr := release(t, source, settings...)
	if status != 0 {
		t.Fatalf("exit status %d\n%s", status, stderr)
	}
	out := filepath.Join(source, "out")
	if !strings.Contains(stdout, "Mallard "+testVersion+" is in "+out) {
		t.Errorf("it prints %q", stdout)
	}
	files := map[string]string{}
	err := filepath.WalkDir(out, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		relative, _ := filepath.Rel(out, file)
		files[relative] = string(content)
		return err
	})
	if err != nil {
		t.Fatalf("reading the release: %v", err)
	}
	return files
}

// TestRelease_FromTwoFolders_IsIdentical makes a release in two folders, of which the second takes version and date from git, and inspects it.
func TestRelease_FromTwoFolders_IsIdentical(t *testing.T) {
	repository := "KO_DOCKER_REPO=" + newRegistry(t) + "/mallard"
	one, another := checkout(t), checkout(t)
	first := makeRelease(t, one, repository, "VERSION="+testVersion, "SOURCE_DATE_EPOCH="+epoch)
	commit(t, another)
	git(t, another, "tag", testVersion)
	second := makeRelease(t, another, repository, "GOAMD64=v3", "GOFLAGS=-race")
	for file, content := range first {
		if second[file] != content {
			t.Errorf("%s differs between two releases of the same sources", file)
		}
	}
	if len(first) != len(second) {
		t.Errorf("one release has %d files, the other %d", len(first), len(second))
	}

	images := strings.Fields(first["images.txt"])
	if len(images) != 4 {
		t.Fatalf("the images are %q, want those of the controller, the hooks, migrate and the webhook", images)
	}
	t.Run("Images", func(t *testing.T) {
		for _, image := range images {
			inspect(t, image)
		}
	})
	t.Run("Install", func(t *testing.T) {
		expectPinned(t, first["install.yaml"], []string{images[0], images[3]})
		if strings.Contains(first["install.yaml"], images[1]) {
			t.Error("install.yaml has the hooks, which belong to an overlay")
		}
	})
	t.Run("PostInstall", func(t *testing.T) { expectPinned(t, first["post-install.yaml"], images[2:3]) })
	t.Run("Monitoring", func(t *testing.T) { expectMonitoring(t, first["monitoring.yaml"]) })
	t.Run("Kustomize", func(t *testing.T) { expectKustomize(t, first["kustomize.tar.gz"], images) })
	t.Run("SBOM", func(t *testing.T) { expectSPDX(t, first, images) })
	t.Run("Checksums", func(t *testing.T) { expectChecksums(t, first) })
}

// expectPinned expects manifests with each image by its digest, and nothing that is still to be filled in.
func expectPinned(t *testing.T, manifests string, images []string) {
	t.Helper()
	for _, image := range images {
		if !strings.Contains(manifests, "image: "+image+"\n") {
			t.Errorf("%s is not named", image)
		}
	}
	if strings.Contains(manifests, "ko://") || strings.Contains(manifests, "app.kubernetes.io/version: devel") {
		t.Error("an import path or the version devel is left")
	}
	if !strings.Contains(manifests, "app.kubernetes.io/version: "+testVersion+"\n") {
		t.Errorf("the version %s is not named", testVersion)
	}
}

func expectMonitoring(t *testing.T, content string) {
	t.Helper()
	type rules struct {
		Groups []struct {
			Rules []struct {
				Alert string `json:"alert"`
				Expr  string `json:"expr"`
			} `json:"rules"`
		} `json:"groups"`
	}
	var plain rules
	source, err := os.ReadFile(filepath.Join(root, "monitoring/rules.yaml"))
	if err == nil {
		err = yaml.Unmarshal(source, &plain)
	}
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for document := range strings.SplitSeq(content, "---\n") {
		var object struct {
			Kind string `json:"kind"`
			Spec rules  `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%v:\n%s", err, document)
		}
		if object.Kind == "" {
			continue
		}
		kinds = append(kinds, object.Kind)
		if object.Kind != "PrometheusRule" {
			continue
		}
		if diff := cmp.Diff(plain, object.Spec); diff != "" || len(plain.Groups) == 0 {
			t.Errorf("the PrometheusRule (-rules.yaml +got):\n%s", diff)
		}
	}
	if want := []string{"PrometheusRule", "ServiceMonitor"}; !slices.Equal(kinds, want) {
		t.Errorf("monitoring.yaml has %q, want %q", kinds, want)
	}
	if strings.Contains(content, "app.kubernetes.io/version: devel") {
		t.Error("the version devel is left")
	}
}

func expectKustomize(t *testing.T, compressed string, images []string) {
	t.Helper()
	reader, err := gzip.NewReader(strings.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var all strings.Builder
	archive := tar.NewReader(reader)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		if _, err := io.Copy(&all, archive); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"config/Kustomization", "config/controller.yaml", "post-install/200-migrate.yaml", "kustomize/overlays/default/kustomization.yaml",
		"kustomize/overlays/ha/kustomization.yaml", "kustomize/overlays/hooks/Kustomization", "kustomize/overlays/hooks/hooks.yaml",
		"kustomize/overlays/single-namespace/watched.yaml", "samples/100-addressableservice.yaml", "LICENSE",
		"monitoring/dashboard.json", "monitoring/rules.yaml", "monitoring/prometheusrule.yaml", "monitoring/scrape-config.yaml", "monitoring/servicemonitor.yaml",
	} {
		if !slices.Contains(names, "mallard-"+testVersion+"/"+want) {
			t.Errorf("the archive lacks %s; it has %q", want, names)
		}
	}
	expectPinned(t, all.String(), images)
}

func expectSPDX(t *testing.T, files map[string]string, images []string) {
	t.Helper()
	for _, document := range []string{
		"controller-index", "controller-linux-amd64", "controller-linux-arm64", "hooks-index", "hooks-linux-amd64", "hooks-linux-arm64",
		"migrate-index", "migrate-linux-amd64", "migrate-linux-arm64", "webhook-index", "webhook-linux-amd64", "webhook-linux-arm64",
	} {
		var spdx struct {
			Version  string `json:"spdxVersion"`
			Packages []struct {
				Name string `json:"name"`
			} `json:"packages"`
		}
		if err := json.Unmarshal([]byte(files["sbom/"+document+".spdx.json"]), &spdx); err != nil {
			t.Errorf("sbom/%s.spdx.json: %v", document, err)
			continue
		}
		if spdx.Version == "" || len(spdx.Packages) == 0 {
			t.Errorf("sbom/%s.spdx.json is no SPDX document with packages", document)
		}
		if strings.HasSuffix(document, "-index") {
			continue
		}
		for _, want := range []string{"github.com/mallard-dev/mallard", "knative.dev/pkg", "k8s.io/client-go"} {
			if !strings.Contains(files["sbom/"+document+".spdx.json"], want) {
				t.Errorf("sbom/%s.spdx.json does not name %s, which is linked in", document, want)
			}
		}
	}
	// The documents are in the registry as well, where scanners look for them.
	for _, image := range images {
		digest, err := name.NewDigest(image)
		if err != nil {
			t.Fatal(err)
		}
		tag := digest.Context().Tag(strings.ReplaceAll(digest.DigestStr(), ":", "-") + ".sbom")
		if _, err := remote.Head(tag, remote.WithContext(t.Context())); err != nil {
			t.Errorf("%s does not exist: %v", tag, err)
		}
	}
}

func expectChecksums(t *testing.T, files map[string]string) {
	t.Helper()
	sums := map[string]string{}
	for line := range strings.Lines(files["checksums.txt"]) {
		sum, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Errorf("checksums.txt: %q", line)
		}
		sums[file] = sum
	}
	want := map[string]string{}
	for file, content := range files {
		if file != "checksums.txt" {
			sum := sha256.Sum256([]byte(content))
			want[file] = hex.EncodeToString(sum[:])
		}
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("checksums.txt (-want +got):\n%s", diff)
	}
}
