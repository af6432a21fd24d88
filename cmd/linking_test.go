/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cmd

import (
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// koFlags returns the flags for the go command with which ko builds the images.
func koFlags() ([]string, error) {
	content, err := os.ReadFile("../.ko.yaml")
	if err != nil {
		return nil, err
	}
	var config struct {
		DefaultFlags []string `json:"defaultFlags"`
	}
	err = yaml.Unmarshal(content, &config)
	return config.DefaultFlags, err
}

// The linker leaves out methods that nothing calls only if the binary calls no method through reflection by a name or a number that it
// does not know (docs/adr/0011-dead-code-elimination.md). To find another caller, link with -ldflags=-dumpdep and look for ReflectMethod.
func TestController_MethodsThatNothingCalls_AreNotLinked(t *testing.T) {
	binary, err := elf.Open(build(t)["controller"])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = binary.Close() })
	symbols, err := binary.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	isLinked := func(name string) bool {
		return slices.ContainsFunc(symbols, func(symbol elf.Symbol) bool { return symbol.Name == name })
	}
	const called, notCalled = "k8s.io/client-go/kubernetes.(*Clientset).CoreV1", "k8s.io/client-go/kubernetes.(*Clientset).StorageV1alpha1"
	if !isLinked(called) {
		t.Fatalf("%s is not linked, so its name does not show anything about other methods", called)
	}
	if !isLinked(notCalled) {
		return
	}
	t.Errorf("%s is linked, although nothing calls it", notCalled)
	for function, cause := range map[string]string{
		"text/template.(*state).evalField":                           "a template",
		"github.com/google/go-cmp/cmp/internal/value.appendTypeName": "a comparison by go-cmp",
		"golang.org/x/net/trace.RenderEvents":                        "gRPC without the build tag grpcnotrace",
	} {
		if slices.ContainsFunc(symbols, func(symbol elf.Symbol) bool { return strings.HasPrefix(symbol.Name, function) }) {
			t.Errorf("%s is linked: %s", function, cause)
		}
	}
}
