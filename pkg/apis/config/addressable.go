/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/pkg/apis/config/strict"
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

// placeholder matches the placeholders in a domain template.
var placeholder = regexp.MustCompile(`\{\{ *\.(Name|Namespace|Domain) *\}\}`)

var addressableRules = strict.Rules{
	domainKey: strict.Must("a DNS name such as example.com", func(value string) bool { return isHost(value) == nil }),
	domainTemplateKey: strict.Must("a template with {{.Name}} and {{.Namespace}}, with or without {{.Domain}}, such as {{.Name}}.{{.Namespace}}.{{.Domain}}",
		isTemplate),
	schemeKey:               strict.OneOf("http", "https"),
	directoryNamespaceKey:   strict.Name("the name of a namespace such as knative-samples-directory", validation.IsDNS1123Label),
	defaultClassKey:         strict.Name("a DNS name such as mallard.example.com", validation.IsDNS1123Subdomain),
	allowCrossNamespacesKey: strict.Must("true or false", func(value string) bool { _, err := strconv.ParseBool(value); return err == nil }),
}

// Addressable is the content of the ConfigMap. It is immutable once parsed, so that any number of workers can share it.
type Addressable struct {
	// Domain is the suffix of public host names.
	Domain string

	// Scheme is the scheme of public URLs whose port does not imply another one: http or https.
	Scheme string

	// DirectoryNamespace is the namespace in which aliases are published.
	DirectoryNamespace string

	// DefaultClass is the class of objects that are created without one.
	DefaultClass string

	// AllowCrossNamespaceReferences reports whether a target may be in another namespace than the object that refers to it.
	AllowCrossNamespaceReferences bool

	// DomainTemplate becomes a public host name once its placeholders {{.Name}}, {{.Namespace}} and {{.Domain}} are replaced. It is not a Go
	// template, because the webhook parses it for unauthenticated callers, and a Go template can loop.
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
	return strict.Parser(addressableRules, parse)(cm)
}

func parse(cm *corev1.ConfigMap) (*Addressable, error) {
	a := DefaultAddressable()
	err := configmap.Parse(cm.Data,
		configmap.AsString(domainKey, &a.Domain),
		configmap.AsString(domainTemplateKey, &a.DomainTemplate),
		configmap.AsString(schemeKey, &a.Scheme),
		configmap.AsString(directoryNamespaceKey, &a.DirectoryNamespace),
		configmap.AsString(defaultClassKey, &a.DefaultClass),
		configmap.AsBool(allowCrossNamespacesKey, &a.AllowCrossNamespaceReferences),
	)
	if err != nil {
		return nil, err //nolint:wrapcheck // package strict does
	}
	// The length of host names depends on both keys.
	if _, err := a.Host("namespace", "name"); err != nil {
		key := domainTemplateKey
		if _, ok := cm.Data[key]; !ok {
			key = domainKey
		}
		return nil, fmt.Errorf("%s: must yield valid host names such as hello.default.example.com: %w", key, err)
	}
	return a, nil
}

// Host returns the public host name of the object with that name and namespace. The error names the reason for which the template yields no
// valid one, for example because the name is too long for a label.
func (a *Addressable) Host(namespace, name string) (string, error) {
	values := map[string]string{"Name": name, "Namespace": namespace, "Domain": a.Domain}
	host := placeholder.ReplaceAllStringFunc(a.DomainTemplate, func(match string) string { return values[strings.Trim(match, "{ .}")] })
	if err := isHost(host); err != nil {
		return "", fmt.Errorf("host name %q: %w", host, err)
	}
	return host, nil
}

// isTemplate reports whether a template gives two objects two host names. One that joins name and namespace by what both may hold, such as a hyphen,
// can still give both the same; it is in common use, for certificates of one level, and its author's responsibility.
func isTemplate(value string) bool {
	var used []string
	for _, match := range placeholder.FindAllStringSubmatch(value, -1) {
		used = append(used, match[1])
	}
	return len(value) <= validation.DNS1123SubdomainMaxLength && !strings.ContainsAny(placeholder.ReplaceAllString(value, ""), "{}") &&
		slices.Contains(used, "Name") && slices.Contains(used, "Namespace")
}

// isHost checks a host name as DNS limits it: labels of up to 63 characters, which IsDNS1123Subdomain alone does not check.
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
