/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// newModule writes a Go module with one main package.
func newModule(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "cmd/a/main.go": source} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBuild_Commands_WritesPrograms(t *testing.T) {
	t.Parallel()
	module := newModule(t, "package main\n\nfunc main() { println(\"built\") }\n")
	cache, out := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "out")
	for range 2 {
		binaries, err := Build(t.Context(), module, []string{"example.com/m/cmd/a"}, cache, out)
		if err != nil {
			t.Fatal(err)
		}
		got := binaries["example.com/m/cmd/a"]
		if want := (Binary{Path: filepath.Join(out, "a"), Source: filepath.Join(module, "cmd", "a")}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		said, err := exec.CommandContext(t.Context(), got.Path).CombinedOutput()
		if err != nil || string(said) != "built\n" {
			t.Errorf("the program says %q, %v", said, err)
		}
	}
}

func TestBuild_KoYAML_ItsFlagsAreUsed(t *testing.T) {
	t.Parallel()
	module := newModule(t, "package main\n\nfunc main() { println(built) }\n")
	writeFile(t, filepath.Join(module, "cmd", "a", "image.go"), "//go:build image\n\npackage main\n\nconst built = \"as the image\"\n")
	build := func() (map[string]Binary, error) {
		return Build(t.Context(), module, []string{"example.com/m/cmd/a"}, filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "out"))
	}
	writeFile(t, filepath.Join(module, ".ko.yaml"), "defaultFlags:\n- -tags=image\n")
	binaries, err := build()
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), binaries["example.com/m/cmd/a"].Path).CombinedOutput()
	if err != nil || string(output) != "as the image\n" {
		t.Errorf("the program prints %q, %v", output, err)
	}

	writeFile(t, filepath.Join(module, ".ko.yaml"), "defaultFlags: -tags=image\n")
	if _, err := build(); !matches(err, ".ko.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go struct field .defaultFlags") {
		t.Errorf("flags that are not a list: got %v, want an error that names the file and the field", err)
	}
}

func TestBuild_Failure_ReturnsTheCompilersError(t *testing.T) {
	t.Parallel()
	build := func(ctx context.Context, module string, paths ...string) error {
		_, err := Build(ctx, module, paths, filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "out"))
		return err
	}
	module := newModule(t, "package main\n\nfunc main() { nonsense() }\n")
	if err := build(t.Context(), module, "example.com/m/cmd/a"); !matches(err, "cmd/a/main.go:3:15: undefined: nonsense") {
		t.Errorf("of a package that does not compile: got %v, want what the compiler says", err)
	}
	if err := build(t.Context(), module, "example.com/m/cmd/a", "example.com/m/other/a"); !matches(err, "end in the same name") {
		t.Errorf("of two packages with one name: got %v, want an error that says so", err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := build(ctx, module, "example.com/m/cmd/a"); !errors.Is(err, cause) {
		t.Errorf("of an interrupted build: got %v, want the cause", err)
	}
}

func TestImportPaths_Images_ReturnsTheirPackages(t *testing.T) {
	t.Parallel()
	deployment := func(images ...string) *unstructured.Unstructured {
		var containers []any
		for _, image := range images {
			containers = append(containers, map[string]any{"image": image})
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "Deployment", "spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": containers}}},
		}}
	}
	got, err := ImportPaths([]*unstructured.Unstructured{deployment("ko://b", "nginx"), deployment("ko://a", "ko://b"), {Object: map[string]any{"kind": "Service"}}})
	if diff := cmp.Diff([]string{"a", "b"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestProbe_Response_DecidesTheResult(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Probe") != "yes" {
			http.Error(w, "the header is missing", http.StatusBadRequest)
			return
		}
		status, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Location", "/500")
		http.Error(w, "the body of "+r.URL.RawQuery, status)
	})
	for scheme, server := range map[corev1.URIScheme]*httptest.Server{
		corev1.URISchemeHTTP: httptest.NewServer(handler), corev1.URISchemeHTTPS: httptest.NewTLSServer(handler),
	} {
		t.Cleanup(server.Close)
		address, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		local, err := strconv.Atoi(address.Port())
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{"/200": "", "/204": "", "/302": "", "/404": "404 Not Found: the body of", "/503?a=b": "503 Service Unavailable: the body of a=b"} {
			p, problems := newProbe(&corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Scheme: scheme, Path: path, Port: intstr.FromString("web"), HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Probe", Value: "yes"}},
			}}}, []corev1.ContainerPort{{Name: "web", ContainerPort: 80}}, field.NewPath("probe"))
			if len(problems) > 0 {
				t.Fatal(problems.ToAggregate())
			}
			if err := p.check(t.Context(), local); !matches(err, want) {
				t.Errorf("%s %s: got %v, want %q", scheme, path, err, want)
			}
		}
	}
}
