//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	templatefork "github.com/mallard-dev/mallard/hack/template/fork"
)

// randomNames returns arguments of make fork. Modules lie at any depth. Names have dashes and digits, or contain the template's names. Groups
// have the template's group as their prefix or first label, and all contain knative, which is also a folder of packages.
func randomNames(random *rand.Rand) map[string]string {
	word := func() string {
		return []string{"pond", "heron", "lake", "reed", "moss"}[random.Intn(5)] + strconv.Itoa(random.Intn(100))
	}
	module := []string{"git." + word() + ".example.com"}
	for range 1 + random.Intn(4) {
		module = append(module, word())
	}
	group := []string{
		word() + ".knative.acme.io", word() + "-" + word() + ".knative.example.com", "samples.knative.dev." + word() + ".io", "samples." + word() + ".knative.io",
	}
	name := []string{word(), "Green-" + word(), "Mallard-" + word(), "mallard" + word(), "Samples-" + word()}
	namespace := []string{word() + "-system", "knative-samples-" + word(), "mallard-" + word()}
	return map[string]string{
		"MODULE": strings.Join(module, "/"), "GROUP": group[random.Intn(len(group))], "NAME": name[random.Intn(len(name))],
		"NAMESPACE": namespace[random.Intn(len(namespace))],
	}
}

// oldNames finds what must be renamed.
var oldNames = regexp.MustCompile(`(?i:mallard)|samples\\?\.knative\\?\.dev|knative-samples|SamplesV1|\bfakesamples\b|\b(?:fake)?samples(?:client|v1\w*)\b|apis/samples\b`)

// expectNoOldNames reports each old name in a file or a path that is neither part of a new name nor an exception.
func (r repository) expectNoOldNames(t *testing.T, variables map[string]string) {
	t.Helper()
	var args []string
	for variable, value := range variables {
		args = append(args, variable+"="+value)
	}
	arguments, err := templatefork.Parse(append(args, "TO="+filepath.Join(t.TempDir(), "fork")))
	if err != nil {
		t.Fatal(err)
	}
	left := regexp.MustCompile(strings.Join(append(newNames(variables), templatefork.Exceptions(arguments)...), "|"))
	for _, path := range r.Files(t) {
		text := path
		if info, err := os.Lstat(filepath.Join(r.Dir, path)); err == nil && info.Mode().IsRegular() && path != ".template.yaml" {
			text += "\n" + r.Read(t, path)
		}
		for number, line := range slices.Collect(strings.Lines(text)) {
			if name := oldNames.FindString(left.ReplaceAllString(line, " ")); name != "" {
				t.Errorf("%s:%d: the old name %s is left in %s", path, number, name, line)
			}
		}
	}
}

// newNames returns expressions for the names of the fork that contain one of the template's, the longest first.
func newNames(variables map[string]string) []string {
	name := variables["NAME"]
	words := strings.Split(name, "-")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	identifier := strings.Join(words, "")
	names := map[string]bool{identifier: true, strings.ToLower(identifier[:1]) + identifier[1:]: true}
	for _, text := range []string{name, strings.ToLower(name), strings.ToLower(strings.ReplaceAll(name, "-", "_")), variables["MODULE"], variables["GROUP"], variables["NAMESPACE"]} {
		names[text], names[strings.ToUpper(text)], names[strings.ReplaceAll(text, ".", `\.`)] = true, true, true
	}
	sorted := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return len(b) - len(a) })
	for i, text := range sorted {
		sorted[i] = regexp.QuoteMeta(text)
	}
	if label, _, _ := strings.Cut(variables["GROUP"], "."); label == "samples" {
		sorted = append(sorted, `SamplesV1`, `(?:fake)?samples(?:client|v1\w*)\b`, `fakesamples`, `apis/samples`)
	}
	return sorted
}
