/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"bytes"
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestNewModel_OptionIsInvalid_NamesVariableAndValues(t *testing.T) {
	own, _ := ownKind(t)
	p := thisProject(t)
	for name, tc := range map[string]struct {
		args []string
		want []string // parts of the message
	}{
		"no kind":              {nil, []string{"KIND=: must be in CamelCase", "such as Widget"}},
		"lower case":           {[]string{"KIND=widget"}, []string{"KIND=widget: must be in CamelCase"}},
		"too long":             {[]string{"KIND=" + strings.Repeat("A", longestKind+1)}, []string{"2 to 30 letters and digits"}},
		"keyword":              {[]string{"KIND=Func"}, []string{"func cannot be the name of a Go package"}},
		"list":                 {[]string{"KIND=WidgetList"}, []string{"must not end with List"}},
		"kind of Kubernetes":   {[]string{"KIND=Service"}, []string{"Kubernetes has a kind of this name (v1)"}},
		"kind of the operator": {[]string{"KIND=" + own}, []string{"pkg/reconciler/" + strings.ToLower(own) + " exists", "make drop KIND=" + own}},
		"suite":                {[]string{"KIND=Repository"}, []string{"test/repository exists"}},
		"version":              {[]string{"KIND=Widget", "VERSION=v9"}, []string{"VERSION=v9: the API has no such version; it has " + strings.Join(p.versions, ", ")}},
		"child":                {[]string{"KIND=Widget", "OWNS=v1.Event"}, []string{"OWNS=v1.Event: must be one of apps/v1.Deployment, external, v1.ConfigMap"}},
		"scope":                {[]string{"KIND=Widget", "SCOPE=cluster"}, []string{"SCOPE=cluster: must be Namespaced or Cluster"}},
		"unknown variable":     {[]string{"NAME=Widget"}, []string{"NAME=Widget: there is no such variable; there are KIND, VERSION, OWNS, SCOPE"}},
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

// The test of package kind in test/ compiles and runs them.
func TestFiles_EveryCombination_IsWellFormed(t *testing.T) {
	for _, owns := range slices.Sorted(maps.Keys(children)) {
		for _, scope := range []string{"Namespaced", "Cluster"} {
			m := newTestModel(t, "OWNS="+owns, "SCOPE="+scope)
			m.APIPackage = strings.Repeat("x", 25) // the group of a fork determines it, and lines have to be short enough
			files, err := m.files()
			if err != nil {
				t.Fatalf("OWNS=%s SCOPE=%s: %v", owns, scope, err)
			}
			for path, content := range files {
				checkFile(t, path, content)
				if strings.Contains(content, ") SetDefaults(") || strings.Contains(content, ") Validate(") {
					t.Errorf("OWNS=%s: the webhook would admit the kind, because %s has this method:\n%s", owns, path, content)
				}
			}
		}
	}
}

func TestKindsOfKubernetes_AreThoseOfClientGo(t *testing.T) {
	versions := map[string]string{}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if version := gvk.GroupVersion().String(); gvk.Version != runtime.APIVersionInternal && !strings.HasSuffix(gvk.Kind, "List") {
			versions[gvk.Kind] = min(version, cmp.Or(versions[gvk.Kind], version))
		}
	}
	var want strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(versions)) {
		fmt.Fprintln(&want, kind, versions[kind])
	}
	if kindsOfKubernetes != want.String() {
		t.Errorf("kubernetes.txt lists other kinds than client-go. Copy these lines:\n%s", &want)
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

func TestRegister_AndUnregister_RestoreTheFiles(t *testing.T) {
	// The first, the last and one in the middle, with the rows of their writes.
	for kind, tc := range map[string]struct {
		owns string
		rows int
	}{"Aardvark": {"apps/v1.Deployment", 3}, "Buffer": {"external", 2}, "Zebra": {"v1.ConfigMap", 3}} {
		m := newTestModel(t, "OWNS="+tc.owns)
		m.Kind = kind
		after, err := m.register()
		if err != nil {
			t.Fatal(err)
		}
		before := map[string]string{}
		for file := range after {
			if before[file], err = m.read(file); err != nil {
				t.Fatal(err)
			}
		}
		for file, lines := range map[string]int{constructors: 2, index: 1, security: tc.rows} {
			if !m.exists(file) {
				continue // as in a fork without documents
			}
			if got := strings.Count(after[file], "\n") - strings.Count(before[file], "\n"); got != lines {
				t.Errorf("%s of %s has %d more lines, want %d", file, kind, got, lines)
			}
		}
		for _, l := range m.lists() {
			after[l.file] = l.remove(after[l.file])
		}
		for file := range before {
			if after[file] != before[file] {
				t.Errorf("%s without %s differs from before:\n%s", file, kind, after[file])
			}
		}
	}
}

func TestPluralOf_IsThatOfTheGenerators(t *testing.T) {
	for kind, want := range map[string]string{
		"Widget": "Widgets", "Policy": "Policies", "Gateway": "Gateways", "Bus": "Buses", "Box": "Boxes", "Branch": "Branches", "Dish": "Dishes",
		"Path": "Paths", "Shelf": "Shelves", "Knife": "Knives", "Cache": "Caches",
		"DNS": "DNSs", "HelloWorld": "HelloWorlds", "Postgres": "Postgreses", "Series": "Serieses", "HTTPRoute": "HTTPRoutes",
	} {
		if got := pluralOf(kind); got != want {
			t.Errorf("the plural of %s is %s, want %s", kind, got, want)
		}
		if guess, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind}); guessOf(kind) != guess.Resource {
			t.Errorf("the guess for %s is %s, want %s", kind, guessOf(kind), guess.Resource)
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
