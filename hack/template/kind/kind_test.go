/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"bytes"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNewModel_OptionIsInvalid_NamesVariableAndValues(t *testing.T) {
	own, _ := ownKind(t)
	p := thisProject(t)
	for name, tc := range map[string]struct {
		args []string
		want []string // parts of the message
	}{
		"no kind":                 {nil, []string{"KIND=: must be in CamelCase", "such as Widget"}},
		"lower case":              {[]string{"KIND=widget"}, []string{"KIND=widget: must be in CamelCase"}},
		"too long":                {[]string{"KIND=" + strings.Repeat("A", longestKind+1)}, []string{"2 to 30 letters and digits"}},
		"keyword":                 {[]string{"KIND=Func"}, []string{"func cannot be the name of a Go package"}},
		"list":                    {[]string{"KIND=WidgetList"}, []string{"must not end with List"}},
		"kind of Kubernetes":      {[]string{"KIND=Service"}, []string{"Kubernetes has a kind of this name (v1)"}},
		"kind of the operator":    {[]string{"KIND=" + own}, []string{"pkg/reconciler/" + strings.ToLower(own) + " exists", "make drop KIND=" + own}},
		"suite":                   {[]string{"KIND=Repository"}, []string{"test/repository exists"}},
		"version":                 {[]string{"KIND=Widget", "VERSION=v9"}, []string{"VERSION=v9: the API has no such version; it has " + strings.Join(p.versions, ", ")}},
		"child":                   {[]string{"KIND=Widget", "OWNS=v1.Event"}, []string{"OWNS=v1.Event: must be one of apps/v1.DaemonSet, apps/v1.Deployment"}},
		"reference without group": {[]string{"KIND=Widget", "BINDS=Service"}, []string{"BINDS=Service: must be VERSION.KIND or GROUP/VERSION.KIND"}},
		"cluster-scoped":          {[]string{"KIND=Widget", "BINDS=v1.Node"}, []string{"BINDS=v1.Node: Node is cluster-scoped"}},
		"no such built-in kind":   {[]string{"KIND=Widget", "BINDS=apps/v1.Service"}, []string{"Service is not a kind of Kubernetes at apps/v1"}},
		"no such own kind":        {[]string{"KIND=Widget", "BINDS=" + p.Group + "/v1.Goose"}, []string{p.Group + " has no kind Goose at v1"}},
		"nothing to refer to":     {[]string{"KIND=Widget", "BINDS=v1.Pod"}, []string{"no file of samples/ has an object of this kind", "v1.ConfigMap, v1.PersistentVolumeClaim"}},
		"flag":                    {[]string{"KIND=Widget", "FINALIZER=yes"}, []string{"FINALIZER=yes: must be 1 or empty"}},
		"unknown variable":        {[]string{"NAME=Widget"}, []string{"NAME=Widget: there is no such variable; there are KIND, VERSION, OWNS, BINDS, FINALIZER"}},
	} {
		t.Run(name, func(t *testing.T) {
			options, err := ParseOptions(tc.args, variables...)
			if err == nil {
				_, err = newModel(root, options)
			}
			if err == nil {
				t.Fatal("the options are accepted")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %q, want the part %q", err, part)
				}
			}
		})
	}
}

// The test of package kind in test/ compiles and runs two combinations.
func TestFiles_EveryCombination_IsWellFormed(t *testing.T) {
	own, version := ownKind(t)
	for _, owns := range slices.Sorted(maps.Keys(children)) {
		for _, binds := range []string{"", "v1.Secret", "v1.Service", thisProject(t).Group + "/" + version + "." + own} {
			for _, finalizer := range []string{"", "1"} {
				m := newTestModel(t, "OWNS="+owns, "BINDS="+binds, "FINALIZER="+finalizer)
				m.APIPackage = strings.Repeat("x", 25) // the group of a fork determines it, and lines have to be short enough
				files, err := m.files()
				if err != nil {
					t.Fatalf("OWNS=%s BINDS=%s FINALIZER=%s: %v", owns, binds, finalizer, err)
				}
				for path, content := range files {
					checkFile(t, path, content)
				}
			}
		}
	}
}

func TestCheckFree_TypeExists_IsNamed(t *testing.T) {
	own, version := ownKind(t)
	err := thisProject(t).checkFree(own+"Spec", version)
	if want := "package " + version + " declares " + own + "Spec"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

func checkFile(t *testing.T, path, content string) {
	t.Helper()
	if strings.Contains(content, "<no value>") || strings.Contains(content, "{{.") || strings.Contains(content, "{{-") {
		t.Errorf("%s has traces of its template:\n%s", path, content)
	}
	if !strings.HasSuffix(content, "\n") || strings.HasSuffix(content, "\n\n") {
		t.Errorf("%s does not end with one line break", path)
	}
	for n, line := range strings.Split(content, "\n") {
		const widestLine = 160
		if len(line) > widestLine && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.Contains(line, "// +") {
			t.Errorf("%s:%d has %d characters", path, n+1, len(line))
		}
		if strings.TrimRight(line, " \t") != line {
			t.Errorf("%s:%d ends with a space", path, n+1)
		}
	}
	if strings.HasSuffix(path, ".go") {
		if _, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Each child is compiled with its drift, in a package that has stand-ins for the generated parts.
func TestChildren_EveryExpression_Compiles(t *testing.T) {
	folder, err := os.MkdirTemp(filepath.Join(root, "hack/template/kind"), "testdata-") //nolint:usetesting // it has to be in the module
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	for _, owns := range slices.Sorted(maps.Keys(children)) {
		c, err := chooseChild(owns)
		if err != nil {
			t.Fatal(err)
		}
		m := &model{project: &project{}, Child: c}
		source := "package child\n\n" + m.imports(c.ImportLine(), when(c.Uses("corev1"), "k8s.io/api/core/v1 corev1"),
			when(c.Uses("metav1") || c.NeedsLabels(), "k8s.io/apimachinery/pkg/apis/meta/v1 metav1"),
			when(c.Uses("intstr"), "k8s.io/apimachinery/pkg/util/intstr")) +
			"\n\nfunc of" + c.Kind + "(o object, labels map[string]string) *" + c.Type() + " {\n\tc := &" + c.Type() + "{" + c.Content + ": " + c.Value() + "}\n\t" +
			c.Drift + "\n\t_ = labels\n\treturn c\n}\n"
		if err := os.WriteFile(filepath.Join(folder, c.Lower()+".go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	object := "package child\n\ntype object struct{ Spec struct{ Message, Image, App string; Replicas *int32 } }\n\nfunc nameFor(object) string { return \"\" }\n"
	if err := os.WriteFile(filepath.Join(folder, "object.go"), []byte(object), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "vet", ".")
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}

func TestRegister_AndUnregister_RestoreTheFiles(t *testing.T) {
	// The first, the last and one in the middle.
	for _, kind := range []string{"Aardvark", "Buffer", "Zebra"} {
		m := newTestModel(t, "FINALIZER=1", "OWNS=apps/v1.Deployment")
		m.Kind = kind
		m.page = pages + "/" + m.Lower() + ".md"
		before, after, err := m.register()
		if err != nil {
			t.Fatal(err)
		}
		for file, lines := range map[string]int{constructors: 2, index: 1, security: 4} {
			if !m.exists(file) {
				continue // as in a fork without documents
			}
			if got := strings.Count(after[file], "\n") - strings.Count(before[file], "\n"); got != lines {
				t.Errorf("%s of %s has %d more lines, want %d", file, kind, got, lines)
			}
		}
		imports, calls, optional := m.lists(kind)
		for _, l := range append(optional, imports, calls) {
			after[l.file] = l.remove(after[l.file])
		}
		for file := range before {
			if after[file] != before[file] {
				t.Errorf("%s without %s differs from before:\n%s", file, kind, after[file])
			}
		}
	}
}

func TestImports_Groups_AreSortedAndHaveNoDuplicates(t *testing.T) {
	m := &model{project: &project{Module: "example.com/pond"}}
	got := m.imports("knative.dev/pkg/kmeta", "", "example.com/pond/pkg/a", "k8s.io/api/core/v1 corev1", "context", "k8s.io/api/core/v1 corev1", "fmt")
	want := "import (\n \"context\"\n \"fmt\"\n\ncorev1 \"k8s.io/api/core/v1\"\n\n \"knative.dev/pkg/kmeta\"\n\n \"example.com/pond/pkg/a\"\n)"
	if got != want {
		t.Errorf("imports:\n%s\nwant:\n%s", got, want)
	}
}

func TestPluralOf_IsThatOfTheGenerators(t *testing.T) {
	for kind, want := range map[string]string{
		"Widget": "Widgets", "Policy": "Policies", "Gateway": "Gateways", "Bus": "Buses", "Box": "Boxes", "Branch": "Branches", "Dish": "Dishes",
		"Path": "Paths", "Shelf": "Shelves", "Knife": "Knives", "Cache": "Caches",
	} {
		if got := pluralOf(kind); got != want {
			t.Errorf("the plural of %s is %s, want %s", kind, got, want)
		}
	}
}

func TestDrop_KindDoesNotExist_KindsAreListed(t *testing.T) {
	kinds, err := thisProject(t).registered()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = Drop(t.Context(), root, Options{Kind: "Goose"}, &out)
	if want := "the kinds are " + strings.Join(kinds, ", "); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
		t.Errorf("the error is %v, want %q; it prints %q", err, want, &out)
	}
}
