/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"
)

const (
	page = "../../docs/explanation/events.md"
	// later is the version of client-go that statements about later ones are compared with.
	later = "v0.37.2"
)

// clientGo returns the folder of client-go: the linked one, or that of a version.
func clientGo(t *testing.T, version string) string {
	t.Helper()
	arguments := []string{"list", "-m", "-json", "k8s.io/client-go"}
	if version != "" {
		arguments = []string{"mod", "download", "-json", "k8s.io/client-go@" + version}
	}
	var module struct {
		Dir string `json:"Dir"`
	}
	said, err := exec.CommandContext(t.Context(), "go", arguments...).Output()
	must(t, err, json.Unmarshal(said, &module))
	return module.Dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return string(content)
}

// declared returns the names that a file declares: functions, methods, types, and methods of interfaces.
func declared(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	must(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name.Name)
			return false
		case *ast.TypeSpec:
			names = append(names, n.Name.Name)
		case *ast.Field:
			for _, name := range n.Names {
				names = append(names, name.Name)
			}
		}
		return true
	})
	return names
}

func TestPage_References_AreDeclared(t *testing.T) {
	references := regexp.MustCompile("`([a-z_/]+\\.go):(\\w+)`( \\(0\\.37\\))?").FindAllStringSubmatch(read(t, page), -1)
	if len(references) < 20 {
		t.Fatalf("the page has %d references", len(references))
	}
	folders := map[string]string{}
	for _, reference := range references {
		version := ""
		if reference[3] != "" {
			version = later
		}
		if _, ok := folders[version]; !ok {
			folders[version] = clientGo(t, version)
		}
		file := reference[1]
		if !strings.Contains(file, "/") {
			file = filepath.Join("tools", "cache", file)
		}
		if !slices.Contains(declared(t, filepath.Join(folders[version], file)), reference[2]) {
			t.Errorf("%s does not declare %s", reference[1], reference[2])
		}
	}
}

// gatesOf returns the history of the feature gates that concern informers, as the page writes it.
func gatesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	_, table, _ := strings.Cut(read(t, filepath.Join(folder, "features", "known_features.go")), "var defaultVersionedKubernetesFeatureGates")
	gates := map[string]string{}
	entry := regexp.MustCompile(`(?s)\n\t(\w+): \{\n(.*?)\n\t\},`)
	version := regexp.MustCompile(`MustParse\("([\d.]+)"\), Default: (\w+), PreRelease: (\w+)(, LockToDefault: true)?`)
	for _, gate := range entry.FindAllStringSubmatch(table, -1) {
		if strings.HasPrefix(gate[1], "Clients") {
			continue
		}
		var history []string
		for _, v := range version.FindAllStringSubmatch(gate[2], -1) {
			history = append(history, fmt.Sprintf("%s: %s (%s%s)", v[1], map[string]string{"true": "on", "false": "off"}[v[2]], v[3],
				strings.Replace(v[4], ", LockToDefault: true", ", locked", 1)))
		}
		gates[gate[1]] = strings.Join(history, ", ")
	}
	return gates
}

func TestPage_Gates_AreThoseOfClientGo(t *testing.T) {
	text := read(t, page)
	known := gatesOf(t, clientGo(t, later))
	for gate, history := range known {
		if row := fmt.Sprintf("| `%s` | %s |\n", gate, history); !strings.Contains(text, row) {
			t.Errorf("the page lacks the row %s", row)
		}
	}
	for gate, history := range gatesOf(t, clientGo(t, "")) {
		if !strings.HasPrefix(known[gate], history) {
			t.Errorf("gate %s has the history %q in the linked client-go, and %q in %s", gate, history, known[gate], later)
		}
	}
}

// linesWith returns the lines of the package cache that contain a text.
func linesWith(t *testing.T, text string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(clientGo(t, ""), "tools", "cache", "*.go"))
	must(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for line := range strings.Lines(read(t, file)) {
			if strings.Contains(line, text) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}

func TestReflectorMetrics_Provider_IsNotRead(t *testing.T) {
	if lines, want := linesWith(t, "metricsFactory.metricsProvider"), []string{"metricsFactory.metricsProvider = metricsProvider"}; !slices.Equal(lines, want) {
		t.Errorf("the provider is used by %q", lines)
	}
}

func TestSources_NamesOfTheSeries_AreGone(t *testing.T) {
	for _, name := range []string{"deltaCompressor", "syncingListeners", "type ErrRequeue"} {
		if lines := linesWith(t, name); len(lines) > 0 {
			t.Errorf("client-go has %q", lines)
		}
	}
	queue := reflect.TypeFor[cache.Queue]()
	for _, name := range []string{"AddIfNotPresent", "List", "Get"} {
		if _, ok := queue.MethodByName(name); ok {
			t.Errorf("a queue has the method %s", name)
		}
	}
	if lines := linesWith(t, "map[*processorListener]bool"); len(lines) == 0 {
		t.Error("the handlers of an informer are not in a map")
	}
}

func TestHTTP2_Pings_AfterThirtySecondsForFifteen(t *testing.T) {
	said, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/apimachinery").Output()
	must(t, err)
	source := read(t, filepath.Join(strings.TrimSpace(string(said)), "pkg", "util", "net", "http.go"))
	for function, seconds := range map[string]string{"readIdleTimeoutSeconds": "30", "pingTimeoutSeconds": "15"} {
		if _, body, found := strings.Cut(source, "func "+function+"() int {\n"); !found || !strings.HasPrefix(body, "\tret := "+seconds+"\n") {
			t.Errorf("%s does not return %s", function, seconds)
		}
	}
}
