/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddressable_EmptyConfigMap_UsesTheDefaults(t *testing.T) {
	got, err := NewAddressableFromConfigMap(configMap())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(DefaultAddressable(), got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestAddressable_ValidValues_AreParsed(t *testing.T) {
	with := func(change func(*Addressable)) *Addressable {
		a := DefaultAddressable()
		change(a)
		return a
	}
	for name, tc := range map[string]struct {
		key, value string
		want       *Addressable
	}{
		"domain":             {domainKey, "ducks.example.org", with(func(a *Addressable) { a.Domain = "ducks.example.org" })},
		"domain of a label":  {domainKey, "local", with(func(a *Addressable) { a.Domain = "local" })},
		"scheme http":        {schemeKey, "http", with(func(a *Addressable) { a.Scheme = "http" })},
		"scheme https":       {schemeKey, "https", DefaultAddressable()},
		"directory":          {directoryNamespaceKey, "directory", with(func(a *Addressable) { a.DirectoryNamespace = "directory" })},
		"class":              {defaultClassKey, "other.example.com", with(func(a *Addressable) { a.DefaultClass = "other.example.com" })},
		"cross namespaces":   {allowCrossNamespacesKey, "true", with(func(a *Addressable) { a.AllowCrossNamespaceReferences = true })},
		"own namespace only": {allowCrossNamespacesKey, "false", DefaultAddressable()},
		"template": {
			domainTemplateKey, "{{.Namespace}}.{{.Name}}.x.{{.Domain}}",
			with(func(a *Addressable) { a.DomainTemplate = "{{.Namespace}}.{{.Name}}.x.{{.Domain}}" }),
		},
		"template without domain": {
			domainTemplateKey, "{{.Name}}.{{.Namespace}}.example.net",
			with(func(a *Addressable) { a.DomainTemplate = "{{.Name}}.{{.Namespace}}.example.net" }),
		},
		"template with spaces in the braces": {
			domainTemplateKey, "{{ .Name }}.{{  .Namespace}}.{{.Domain }}",
			with(func(a *Addressable) { a.DomainTemplate = "{{ .Name }}.{{  .Namespace}}.{{.Domain }}" }),
		},
		"example": {"_example", "nonsense: [", DefaultAddressable()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := NewAddressableFromConfigMap(configMap(tc.key, tc.value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestAddressable_InvalidValues_AreRejectedWithTheKey(t *testing.T) {
	const dns, template = "must be a DNS name such as ", "must be a template with {{.Name}} and {{.Namespace}}, with or without {{.Domain}}, such as "
	long := strings.Repeat("a", 64)
	for name, tc := range map[string]struct {
		key, value string
		// want is the message without the key.
		want string
	}{
		"domain empty":                {domainKey, "", dns},
		"domain with a capital":       {domainKey, "Example.com", dns + `example.com, not "Example.com"`},
		"domain with a port":          {domainKey, "example.com:8080", dns},
		"domain with a dot in front":  {domainKey, ".example.com", dns},
		"domain with too long label":  {domainKey, long + ".com", dns},
		"scheme unknown":              {schemeKey, "ftp", `must be http or https, not "ftp"`},
		"scheme empty":                {schemeKey, "", `must be http or https, not ""`},
		"directory with a dot":        {directoryNamespaceKey, "a.b", `must be the name of a namespace such as knative-samples-directory, not "a.b"`},
		"directory empty":             {directoryNamespaceKey, "", "must be the name of a namespace such as "},
		"class with a space":          {defaultClassKey, "no class", dns},
		"class empty":                 {defaultClassKey, "", dns},
		"cross namespaces perhaps":    {allowCrossNamespacesKey, "perhaps", `must be true or false, not "perhaps"`},
		"cross namespaces empty":      {allowCrossNamespacesKey, "", `must be true or false, not ""`},
		"template that does not end":  {domainTemplateKey, "{{.Name", template},
		"template with unknown field": {domainTemplateKey, "{{.Name}}.{{.Nam}}", template},
		"template with a function":    {domainTemplateKey, "{{now}}", template},
		"template with a pipeline":    {domainTemplateKey, "{{.Name | printf \"%s\"}}.{{.Namespace}}", template},
		"template with a loop":        {domainTemplateKey, "{{range 2000000000}}{{range 2000000000}}{{end}}{{end}}", template},
		"template with one brace":     {domainTemplateKey, "{.Name}.{{.Name}}.{{.Namespace}}", template},
		"template that is too long":   {domainTemplateKey, strings.Repeat("{{.Name}}", 29), template},
		"template without name": {
			domainTemplateKey, "{{.Namespace}}.{{.Domain}}", template,
		},
		"template without namespace": {
			domainTemplateKey, "{{.Name}}.{{.Domain}}", template,
		},
		"template empty":            {domainTemplateKey, "", template},
		"template with capitals":    {domainTemplateKey, "{{.Name}}.{{.Namespace}}.EXAMPLE.com", "RFC 1123"},
		"template with a long part": {domainTemplateKey, "{{.Name}}.{{.Namespace}}." + long, "no more than 63"},
		"domain with long template": {domainKey, strings.Repeat("a.", 120) + "com", "must be no more than 253"},
		"unknown key":               {"domian", "example.com", "unknown key (did you mean domain?); the keys are "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := NewAddressableFromConfigMap(configMap(tc.key, tc.value))
			if err == nil {
				t.Fatalf("accepted as %+v", got)
			}
			for _, part := range []string{"ConfigMap config-addressable: " + tc.key + ": ", tc.want} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the message %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestAddressable_SeveralInvalidKeys_AreNamedTogether(t *testing.T) {
	_, err := NewAddressableFromConfigMap(configMap(schemeKey, "ftp", "domian", "x", domainTemplateKey, "{{"))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, key := range []string{schemeKey, "domian", domainTemplateKey} {
		if !strings.Contains(err.Error(), key+": ") {
			t.Errorf("the message %q lacks key %s", err, key)
		}
	}
}

func TestAddressable_Host_IsRendered(t *testing.T) {
	withTemplate := func(template string) *Addressable {
		a, err := NewAddressableFromConfigMap(configMap(domainTemplateKey, template))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, tc := range map[string]struct {
		config          *Addressable
		namespace, name string
		want, wantErr   string
	}{
		"default":          {DefaultAddressable(), "ns", "hello", "hello.ns.example.com", ""},
		"name of labels":   {DefaultAddressable(), "ns", "hello.world", "hello.world.ns.example.com", ""},
		"longest label":    {DefaultAddressable(), "ns", strings.Repeat("a", 63), strings.Repeat("a", 63) + ".ns.example.com", ""},
		"too long a label": {DefaultAddressable(), "ns", strings.Repeat("a", 64), "", "must be no more than 63"},
		"too long a name": {
			DefaultAddressable(), "ns", strings.Repeat("a.", 126) + "a", "", "must be no more than 253",
		},
		"other template":       {withTemplate("{{.Namespace}}.{{.Name}}.{{.Domain}}"), "ns", "hello", "ns.hello.example.com", ""},
		"spaces in the braces": {withTemplate("{{ .Name }}.{{ .Namespace}}.{{.Domain }}"), "ns", "hello", "hello.ns.example.com", ""},
		"a placeholder that comes from a name is not replaced": {
			withTemplate("{{.Name}}.{{.Namespace}}"), "ns", "{{.Domain}}", "", "RFC 1123",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.config.Host(tc.namespace, tc.name)
			if got != tc.want {
				t.Errorf("Host() = %q, want %q", got, tc.want)
			}
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("the error is %v, want one with %q", err, tc.wantErr)
			}
		})
	}
}
