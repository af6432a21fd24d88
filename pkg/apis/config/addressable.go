/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// AddressableName is the name of the config map, in the system namespace.
const AddressableName = "config-addressable"

// Keys of the config map.
const (
	domainKey               = "domain"
	domainTemplateKey       = "domain-template"
	schemeKey               = "scheme"
	directoryNamespaceKey   = "directory-namespace"
	defaultClassKey         = "default-class"
	allowCrossNamespacesKey = "allow-cross-namespace-references"
)

const defaultDomainTemplate = "{{.Name}}.{{.Namespace}}.{{.Domain}}"

var addressableKeys = []string{
	allowCrossNamespacesKey, defaultClassKey, directoryNamespaceKey, domainKey, domainTemplateKey, schemeKey,
}

// Addressable is what the config map says. It is immutable once parsed, so that
// any number of workers can share it.
type Addressable struct {
	// Domain is the suffix of public host names.
	Domain string

	// Scheme is the scheme of public URLs whose port does not say otherwise:
	// http or https.
	Scheme string

	// DirectoryNamespace is the namespace in which aliases are published.
	DirectoryNamespace string

	// DefaultClass is the class of objects that are created without one.
	DefaultClass string

	// AllowCrossNamespaceReferences says whether a target may be in another
	// namespace than the object that refers to it.
	AllowCrossNamespaceReferences bool

	// DomainTemplate is the source of the template of public host names.
	DomainTemplate string

	domainTemplate *template.Template
}

// hostFields is what a domain template can use.
type hostFields struct {
	Name      string
	Namespace string
	Domain    string
}

// DefaultAddressable is what an empty config map means.
func DefaultAddressable() *Addressable {
	return &Addressable{
		Domain:             "example.com",
		Scheme:             "https",
		DirectoryNamespace: "knative-samples-directory",
		DefaultClass:       samples.ClassMallard,
		DomainTemplate:     defaultDomainTemplate,
		domainTemplate:     template.Must(parseTemplate(defaultDomainTemplate)),
	}
}

// NewAddressableFromConfigMap parses the config map. The error names every key
// that is wrong and what would be right; the webhook shows it to whoever
// applies the config map.
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
		return nil, fmt.Errorf("config map %s: %w", cm.Name, err)
	}
	return a, nil
}

// set takes one key over. A key that is not known is an error rather than
// ignored, because a misspelt one would otherwise silently keep the default.
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
		a.domainTemplate, err = parseTemplate(value)
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

// Host is the public host name of the object of that name and namespace. The
// error says why the template makes no valid one of them, as with a name that
// is too long for a label.
func (a *Addressable) Host(namespace, name string) (string, error) {
	var b strings.Builder
	if err := a.domainTemplate.Execute(&b, hostFields{Name: name, Namespace: namespace, Domain: a.Domain}); err != nil {
		return "", fmt.Errorf("executing the domain template: %w", err)
	}
	host := b.String()
	if err := isHost(host); err != nil {
		return "", fmt.Errorf("host name %q: %w", host, err)
	}
	return host, nil
}

// checkHosts executes the template for two names in two namespaces: each must get a
// valid host of its own. A template that joins name and namespace by what both may
// hold, such as a hyphen, can still give two objects one host; it is in common use,
// for certificates of one level, and left to whoever chooses it.
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

func parseTemplate(source string) (*template.Template, error) {
	t, err := template.New(domainTemplateKey).Option("missingkey=error").Parse(source)
	if err != nil {
		return nil, fmt.Errorf("not a Go template: %w", err)
	}
	return t, nil
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
