/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	_ "embed"
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// Options are the variables of make kind and make drop.
type Options struct {
	// Kind is the new kind in CamelCase.
	Kind string
	// Version is one of the API's. The default is the most stable one.
	Version string
	// Owns is the kind of the object's child, or external. The default is v1.ConfigMap.
	Owns string
	// Cluster makes the kind cluster-scoped.
	Cluster bool
	// Force lets make drop delete files with changes that are not committed.
	Force bool
}

// ParseOptions reads variables in the form NAME=value. An empty value is the default. allowed are the names that a command has.
func ParseOptions(args []string, allowed ...string) (Options, error) {
	values, err := command.Variables(args, allowed...)
	if force := values["FORCE"]; err == nil && force != "" && force != "1" {
		err = fmt.Errorf("FORCE=%s: must be 1 or empty", force)
	}
	scope := values["SCOPE"]
	if err == nil && !slices.Contains([]string{"", "Namespaced", "Cluster"}, scope) {
		err = fmt.Errorf("SCOPE=%s: must be Namespaced or Cluster", scope)
	}
	return Options{Kind: values["KIND"], Version: values["VERSION"], Owns: values["OWNS"], Cluster: scope == "Cluster", Force: values["FORCE"] != ""}, err
}

// longestKind leaves room for the suffixes of generated names in lines and labels.
const longestKind = 30

// kindsOfKubernetes has a line for each kind of Kubernetes, with a version that has it. The scheme of client-go lists them, too, but the first make fork
// would compile all of their types.
//
//go:embed kubernetes.txt
var kindsOfKubernetes string

var kindPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

func (p *project) checkKind(kind string) error {
	lower := strings.ToLower(kind)
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("KIND=%s: "+format, append([]any{kind}, args...)...)
	}
	switch {
	case !kindPattern.MatchString(kind) || len(kind) > longestKind || len(kind) == 1:
		return invalid("must be in CamelCase, begin with a capital letter, and have 2 to %d letters and digits, such as Widget", longestKind)
	case strings.HasSuffix(kind, "List"):
		return invalid("must not end with List, as the names of list types do")
	case token.IsKeyword(lower) || slices.Contains([]string{"internal", "vendor", "testdata", "main"}, lower):
		return invalid("%s cannot be the name of a Go package", lower)
	}
	for line := range strings.Lines(kindsOfKubernetes) {
		if existing, version, _ := strings.Cut(strings.TrimSpace(line), " "); strings.EqualFold(existing, kind) {
			return invalid("Kubernetes has a kind of this name (%s), which kubectl would mix up with it", version)
		}
	}
	return nil
}

// checkFree fails if the sources have a kind, a package or a type of the name.
func (p *project) checkFree(kind, version string) error {
	lower := strings.ToLower(kind)
	for _, path := range []string{"pkg/reconciler/" + lower, "test/" + lower, "config/300-" + lower + ".yaml"} {
		if p.exists(path) {
			return fmt.Errorf("KIND=%s: %s exists; choose another name, or run make drop KIND=%s", kind, path, kind)
		}
	}
	for _, name := range []string{kind, kind + "Spec", kind + "Status", kind + "List"} {
		if p.declares(version, name) {
			return fmt.Errorf("KIND=%s: package %s declares %s; choose another name", kind, version, name)
		}
	}
	return nil
}

// pluralOf is the plural of a kind as the generators of clients form it.
func pluralOf(kind string) string {
	last, before := kind[len(kind)-1], kind[len(kind)-2]
	switch {
	case strings.ContainsRune("sxz", rune(last)), last == 'h' && (before == 'c' || before == 's'):
		return kind + "es"
	case last == 'y' && !strings.ContainsRune("aeiou", rune(before)):
		return kind[:len(kind)-1] + "ies"
	case last == 'e' && before == 'f':
		return kind[:len(kind)-2] + "ves"
	case last == 'f':
		return kind[:len(kind)-1] + "ves"
	default:
		return kind + "s"
	}
}
