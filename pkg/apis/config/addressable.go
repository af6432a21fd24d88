/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// AddressableName is the name of the ConfigMap, in the system namespace.
const AddressableName = "config-addressable"

// Keys of the ConfigMap.
const (
	domainKey               = "domain"
	domainTemplateKey       = "domain-template"
	schemeKey               = "scheme"
	directoryNamespaceKey   = "directory-namespace"
	defaultClassKey         = "default-class"
	allowCrossNamespacesKey = "allow-cross-namespace-references"
)

// maxDomainTemplate is the length of the longest host name.
const maxDomainTemplate = validation.DNS1123SubdomainMaxLength

// placeholder matches the placeholders in a domain template.
var placeholder = regexp.MustCompile(`\{\{ *\.(?:Name|Namespace|Domain) *\}\}`)

var addressableKeys = []string{
	allowCrossNamespacesKey, defaultClassKey, directoryNamespaceKey, domainKey, domainTemplateKey, schemeKey,
}

// Addressable is the content of the ConfigMap. It is immutable once parsed, so that
// any number of workers can share it.
type Addressable struct {
	// Domain is the suffix of public host names.
	Domain string

	// Scheme is the scheme of public URLs whose port does not imply another one:
	// http or https.
	Scheme string

	// DirectoryNamespace is the namespace in which aliases are published.
	DirectoryNamespace string

	// DefaultClass is the class of objects that are created without one.
	DefaultClass string

	// AllowCrossNamespaceReferences reports whether a target may be in another
	// namespace than the object that refers to it.
	AllowCrossNamespaceReferences bool

	// DomainTemplate becomes a public host name once its placeholders {{.Name}},
	// {{.Namespace}} and {{.Domain}} are replaced. It is not a Go template, because
	// the webhook parses it for unauthenticated callers, and a Go template can loop.
	DomainTemplate string
}

// DefaultAddressable is the configuration of an empty ConfigMap.
func DefaultAddressable() *Addressable {
	return &Addressable{
		Domain:             "example.com",
		Scheme:             "https",
		DirectoryNamespace: "knative-samples-directory",
		DefaultClass:       samples.ClassMallard,
		DomainTemplate:     "{{.Name}}.{{.Namespace}}.{{.Domain}}",
	}
}

// NewAddressableFromConfigMap parses the ConfigMap. The error names every invalid key and its valid values; the webhook returns it to the
// client that applies the ConfigMap.
func NewAddressableFromConfigMap(cm *corev1.ConfigMap) (*Addressable, error) {
	a := DefaultAddressable()
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		if key == configmap.ExampleKey {
			continue
		}
		if err := a.set(key, cm.Data[key]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	if len(errs) == 0 {
		if err := a.checkHosts(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", domainTemplateKey, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w", cm.Name, err)
	}
	return a, nil
}

// set takes one key over. A key that is not known is an error rather than ignored, because a misspelled one would otherwise silently keep
// the default.
func (a *Addressable) set(key, value string) error {
	var err error
	switch key {
	case domainKey:
		a.Domain = value
		if err = isHost(value); err != nil {
			err = fmt.Errorf("%q: %w", value, err)
		}
	case domainTemplateKey:
		a.DomainTemplate = value
		err = checkTemplate(value)
	case schemeKey:
		a.Scheme = value
		if !slices.Contains([]string{"http", "https"}, value) {
			err = fmt.Errorf("must be http or https, not %q", value)
		}
	case directoryNamespaceKey:
		a.DirectoryNamespace = value
		err = isName(value, validation.IsDNS1123Label)
	case defaultClassKey:
		a.DefaultClass = value
		err = isName(value, validation.IsDNS1123Subdomain)
	case allowCrossNamespacesKey:
		if a.AllowCrossNamespaceReferences, err = strconv.ParseBool(value); err != nil {
			err = fmt.Errorf("must be true or false, not %q", value)
		}
	default:
		err = fmt.Errorf("unknown key; the keys are %s", strings.Join(addressableKeys, ", "))
	}
	return err
}

// Host returns the public host name of the object with that name and namespace. The error names the reason for which the template yields no
// valid one, for example because the name is too long for a label.
func (a *Addressable) Host(namespace, name string) (string, error) {
	host := placeholder.ReplaceAllStringFunc(a.DomainTemplate, func(match string) string {
		switch strings.Trim(match, "{ .}") {
		case "Name":
			return name
		case "Namespace":
			return namespace
		default:
			return a.Domain
		}
	})
	if err := isHost(host); err != nil {
		return "", fmt.Errorf("host name %q: %w", host, err)
	}
	return host, nil
}

// checkHosts applies the template to two names in two namespaces: each must get a valid, distinct host. A template that joins name and namespace by
// what both may hold, such as a hyphen, can still give two objects one host; it is in common use, for certificates of one level, and its author's
// responsibility.
func (a *Addressable) checkHosts() error {
	seen := map[string]string{}
	for _, namespace := range []string{"ns-a", "ns-b"} {
		for _, name := range []string{"name-a", "name-b"} {
			host, err := a.Host(namespace, name)
			if err != nil {
				return err
			}
			key := namespace + "/" + name
			if other, ok := seen[host]; ok {
				return fmt.Errorf("gives %s and %s the same host %q; it must use both {{.Name}} and {{.Namespace}}", other, key, host)
			}
			seen[host] = key
		}
	}
	return nil
}

func checkTemplate(value string) error {
	if len(value) > maxDomainTemplate {
		return fmt.Errorf("must be no more than %d characters, not %d", maxDomainTemplate, len(value))
	}
	if literals := placeholder.ReplaceAllString(value, ""); strings.ContainsAny(literals, "{}") {
		return fmt.Errorf("%q: the placeholders are {{.Name}}, {{.Namespace}} and {{.Domain}}; no others, and no functions, are supported", value)
	}
	return nil
}

func isName(value string, check func(string) []string) error {
	if problems := check(value); len(problems) > 0 {
		return fmt.Errorf("%q: %s", value, problems[0])
	}
	return nil
}

// isHost checks a host name as DNS limits it: labels of up to 63 characters,
// which IsDNS1123Subdomain alone does not check.
func isHost(host string) error {
	if problems := validation.IsDNS1123Subdomain(host); len(problems) > 0 {
		return errors.New(problems[0])
	}
	for label := range strings.SplitSeq(host, ".") {
		if problems := validation.IsDNS1123Label(label); len(problems) > 0 {
			return fmt.Errorf("label %q: %s", label, problems[0])
		}
	}
	return nil
}
