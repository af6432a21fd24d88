/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// variables are those of make fork, in the order in which they are reported.
var variables = []string{"MODULE", "GROUP", "NAME", "NAMESPACE", "TO", "KINDS", "VERSIONS", "WITHOUT", "EJECT", "MODULES", "AUTHORS", "LICENSE"}

// Arguments choose the parts and the names of a fork.
type Arguments struct {
	// Module is the path of the fork's Go module.
	Module string
	// Group of the API.
	Group string
	// Name of the operator.
	Name string
	// Namespace in which the operator runs.
	Namespace string
	// To is the absolute path of the folder of the fork.
	To string
	// Kinds to keep.
	Kinds []string
	// Versions to keep of kinds that have several.
	Versions []string
	// Without these products.
	Without []string
	// Eject these modules: the fork has copies of them.
	Eject []string
	// Modules is the version of the template's modules, or the absolute path of a checkout that has them.
	Modules string
	// Authors have the copyright of the fork, and License is the SPDX identifier of its new files.
	Authors, License string
}

const (
	maxLabel = 63
	// Names of objects are made of the name or the namespace and a suffix.
	maxName, maxNamespace = 24, maxLabel - len("-directory")
)

var (
	label     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	subdomain = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	operator  = regexp.MustCompile(`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`)
	holder    = regexp.MustCompile(`^[^\s"'{}*/\\$][^\n"'{}*/\\$]*$`)
	spdx      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]*$`)
	reserved  = regexp.MustCompile(`(^|\.)(k8s\.io|kubernetes\.io|knative\.dev)$`)
)

// Parse reads arguments of the form VARIABLE=value and validates them. An empty value stands for the default.
func Parse(args []string) (Arguments, error) {
	values, err := command.Variables(args, variables...)
	if err != nil {
		return Arguments{}, err
	}
	a := Arguments{
		Module: values["MODULE"], Group: values["GROUP"], Name: values["NAME"], Namespace: values["NAMESPACE"], To: values["TO"],
		Kinds: list(values["KINDS"]), Versions: list(values["VERSIONS"]), Without: list(values["WITHOUT"]), Eject: list(values["EJECT"]),
		Modules: cmp.Or(values["MODULES"], "."),
		Authors: cmp.Or(values["AUTHORS"], "The "+values["NAME"]+" Authors"), License: cmp.Or(values["LICENSE"], oldLicense),
	}
	if len(a.Kinds) == 0 {
		a.Kinds = kinds()
	}
	if a.To != "" {
		if a.To, err = filepath.Abs(a.To); err != nil {
			return a, fmt.Errorf("TO=%s: %w", values["TO"], err)
		}
	}
	if !semver.IsValid(a.Modules) {
		if a.Modules, err = filepath.Abs(a.Modules); err != nil {
			return a, fmt.Errorf("MODULES=%s: %w", values["MODULES"], err)
		}
	}
	return a, a.validate()
}

func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

func (a Arguments) validate() error {
	return errors.Join(a.validateNames(), a.validateFolder(), a.validateParts())
}

func (a Arguments) validateNames() error {
	var errs []error
	if err := module.CheckPath(a.Module); err != nil {
		errs = append(errs, fmt.Errorf("MODULE=%s must be the path of a Go module such as example.com/acme/pond: %w", a.Module, err))
	} else if _, version, _ := module.SplitPathVersion(a.Module); version != "" {
		errs = append(errs, fmt.Errorf("MODULE=%s must not end with a major version, since it has modules below it", a.Module))
	} else if overlaps(a.Module, oldModule) {
		errs = append(errs, fmt.Errorf("MODULE=%s must neither contain nor be below the template's module %s", a.Module, oldModule))
	}
	switch {
	case !subdomain.MatchString(a.Group) || len(a.Group) > 2*maxLabel || slices.ContainsFunc(strings.Split(a.Group, "."), tooLong):
		errs = append(errs, fmt.Errorf("GROUP=%s must be a DNS subdomain of at most %d characters whose first label starts with a letter, such as pond.acme.io",
			a.Group, 2*maxLabel))
	case reserved.MatchString(a.Group):
		errs = append(errs, fmt.Errorf("GROUP=%s must be in another domain: k8s.io, kubernetes.io and knative.dev are reserved", a.Group))
	}
	if !operator.MatchString(a.Name) || len(a.Name) > maxName || strings.EqualFold(a.Name, oldName) {
		errs = append(errs, fmt.Errorf("NAME=%s must be a new name of at most %d letters, digits and dashes that starts with a letter, such as Pond",
			a.Name, maxName))
	}
	if !label.MatchString(a.Namespace) || len(a.Namespace) > maxNamespace || a.Namespace == oldNamespace {
		errs = append(errs, fmt.Errorf("NAMESPACE=%s must be a new DNS label of at most %d characters, such as pond-system", a.Namespace, maxNamespace))
	}
	return errors.Join(errs...)
}

func tooLong(label string) bool { return len(label) > maxLabel }

func overlaps(one, other string) bool {
	return strings.HasPrefix(one+"/", other+"/") || strings.HasPrefix(other+"/", one+"/")
}

func (a Arguments) validateParts() error {
	errs := []error{
		valid("KINDS", a.Kinds, kinds()), valid("VERSIONS", a.Versions, []string{onlyVersion}),
		valid("WITHOUT", a.Without, products()), valid("EJECT", a.Eject, slices.Sorted(maps.Keys(ejectable))),
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	has := slices.Contains[[]string]
	if has(a.Kinds, "AddressBinding") && !has(a.Kinds, "AddressableService") {
		errs = append(errs, errors.New("KINDS with AddressBinding must contain AddressableService too: a binding takes the address of one"))
	}
	if _, err := os.Stat(filepath.Join(a.Modules, "hardening", "go.mod")); err != nil && !semver.IsValid(a.Modules) {
		errs = append(errs, fmt.Errorf("MODULES=%s must be a version such as v1.2.3, or a checkout of the template: %w", a.Modules, err))
	}
	if !holder.MatchString(a.Authors) {
		errs = append(errs, fmt.Errorf("AUTHORS=%s must be one line without quotes, braces, slashes, asterisks and dollar signs, such as Acme Inc", a.Authors))
	}
	if !spdx.MatchString(a.License) {
		errs = append(errs, fmt.Errorf("LICENSE=%s must be an SPDX identifier such as Apache-2.0", a.License))
	}
	return errors.Join(errs...)
}

// valid returns an error if a value is unknown or named twice.
func valid(variable string, values, known []string) error {
	for i, value := range values {
		if !slices.Contains(known, value) {
			return fmt.Errorf("%s: unknown value %q; valid are %s", variable, value, strings.Join(known, ", "))
		}
		if slices.Contains(values[:i], value) {
			return fmt.Errorf("%s: %s is named twice", variable, value)
		}
	}
	return nil
}

// recorded returns the arguments as make fork got them, without the folder.
func (a Arguments) recorded() map[string]string {
	return map[string]string{
		"MODULE": a.Module, "GROUP": a.Group, "NAME": a.Name, "NAMESPACE": a.Namespace,
		"KINDS": strings.Join(a.Kinds, ","), "VERSIONS": strings.Join(a.Versions, ","), "WITHOUT": strings.Join(a.Without, ","),
		"EJECT": strings.Join(a.Eject, ","), "MODULES": a.Modules, "AUTHORS": a.Authors, "LICENSE": a.License,
	}
}
