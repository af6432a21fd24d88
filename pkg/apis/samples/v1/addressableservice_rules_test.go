/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

const crdFile = "../../../../config/300-addressableservice.yaml"

// specSchema is the schema of spec at this version.
func specSchema(t *testing.T) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	content, err := os.ReadFile(crdFile)
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		t.Fatal(err)
	}
	for _, version := range crd.Spec.Versions {
		if version.Name == SchemeGroupVersion.Version {
			return version.Schema.OpenAPIV3Schema.Properties["spec"]
		}
	}
	t.Fatalf("%s has no version %s", crdFile, SchemeGroupVersion.Version)
	return apiextensionsv1.JSONSchemaProps{}
}

func TestRules_AddressableService_EqualThoseOfTheSchema(t *testing.T) {
	inSchema := map[string]string{}
	noteRules(specSchema(t), "spec", inSchema)

	texts := func(of text) string { return fmt.Sprintf("1 to %d of %s", of.max, of.pattern) }
	want := map[string]string{
		"spec":                     "ref required",
		"spec.ref":                 "apiVersion kind name required; self.apiVersion != 'v1' || self.kind == 'Service'",
		"spec.ref.apiVersion":      texts(apiVersionText),
		"spec.ref.kind":            texts(kindText),
		"spec.ref.namespace":       texts(namespaceText),
		"spec.ref.name":            texts(nameText),
		"spec.ports":               fmt.Sprintf("at most %d with other name; self.all(p, !has(p.port) || self.exists_one(q, has(q.port) && q.port == p.port))", maxPorts),
		"spec.ports[]":             "name required",
		"spec.ports[].name":        texts(portNameText),
		"spec.ports[].port":        fmt.Sprintf("%d to %d", minPort, maxPort),
		"spec.ports[].appProtocol": strings.Join(appProtocols, " "),
		"spec.path":                fmt.Sprintf("1 to %d of ; self.matches(\"%s\"); !self.split('/').exists(s, s == '.' || s == '..')", pathText.max, pathText.pattern),
		"spec.visibility":          strings.Join(visibilities, " "),
		"spec.publish":             "alias required",
		"spec.publish.alias":       texts(aliasText),
	}
	if diff := cmp.Diff(want, inSchema); diff != "" {
		t.Errorf("validateRules and the schema differ (-rules, +schema):\n%s", diff)
	}
}

// noteRules records the rules that a schema has for each field.
func noteRules(s apiextensionsv1.JSONSchemaProps, path string, rules map[string]string) {
	var parts []string
	if len(s.Required) > 0 {
		parts = append(parts, strings.Join(s.Required, " ")+" required")
	}
	if s.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("%d to %d of %s", *s.MinLength, *s.MaxLength, s.Pattern))
	}
	if s.Maximum != nil {
		parts = append(parts, fmt.Sprintf("%v to %v", *s.Minimum, *s.Maximum))
	}
	if s.MaxItems != nil {
		parts = append(parts, fmt.Sprintf("at most %d with other %s", *s.MaxItems, strings.Join(s.XListMapKeys, " ")))
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, value := range s.Enum {
			values = append(values, strings.Trim(string(value.Raw), `"`))
		}
		parts = append(parts, strings.Join(values, " "))
	}
	for _, rule := range s.XValidations {
		parts = append(parts, rule.Rule)
	}
	rules[path] = strings.Join(parts, "; ")
	for name, field := range s.Properties {
		noteRules(field, path+"."+name, rules)
	}
	if s.Items != nil {
		noteRules(*s.Items.Schema, path+"[]", rules)
	}
}

func TestRules_AddressableService_RejectInvalidSpecs(t *testing.T) {
	type edit = func(*AddressableServiceSpec)
	path := func(path string) edit { return func(s *AddressableServiceSpec) { s.Path = &path } }
	ports := func(ports ...AddressPort) edit { return func(s *AddressableServiceSpec) { s.Ports = ports } }
	ref := func(r TargetReference) edit { return func(s *AddressableServiceSpec) { s.Ref = r } }
	many := make([]AddressPort, maxPorts+1)
	for i := range many {
		many[i] = AddressPort{Name: fmt.Sprint("p", i)}
	}
	for name, test := range map[string]struct {
		edit edit
		// want is the whole message; none means that the object is accepted.
		want string
	}{
		"nothing more than a Service": {edit: func(*AddressableServiceSpec) {}},
		"everything": {edit: func(s *AddressableServiceSpec) {
			s.Ref = TargetReference{APIVersion: "example.com/v1", Kind: "Duck", Namespace: "ns", Name: "a.b"}
			s.Ports = slices.Concat(many[:maxPorts-1], []AddressPort{{Name: "x", Port: 65535, AppProtocol: "kubernetes.io/wss"}})
			s.Path, s.Visibility, s.Publish = new("/a/b..c"), VisibilityPublic, &Publication{Alias: "alias"}
		}},
		"no target":         {ref(TargetReference{}), "missing field(s): spec.ref.apiVersion, spec.ref.kind, spec.ref.name"},
		"another core kind": {ref(TargetReference{APIVersion: "v1", Kind: "Pod", Name: "a"}), "invalid value: Pod: spec.ref.kind\nmust be Service when apiVersion is v1: no other core kind has an address"},
		"a namespace that is no name": {
			ref(TargetReference{APIVersion: "v1", Kind: "Service", Namespace: "A", Name: "a"}),
			"invalid value: A: spec.ref.namespace\nmust match " + namespaceText.pattern.String(),
		},
		"a name that is too long": {
			ref(TargetReference{APIVersion: "v1", Kind: "Service", Name: strings.Repeat("ä", 254)}),
			"expected 1 <= 254 <= 253: spec.ref.name",
		},
		"too many ports":         {ports(many...), "expected 0 <= 17 <= 16: spec.ports"},
		"a port that is too big": {ports(AddressPort{Name: "a", Port: 99999}), "expected 1 <= 99999 <= 65535: spec.ports[0].port"},
		"a port below zero":      {ports(AddressPort{Name: "a", Port: -1}), "expected 1 <= -1 <= 65535: spec.ports[0].port"},
		"a port twice":           {ports(AddressPort{Name: "a", Port: 1}, AddressPort{Name: "b", Port: 1}), "invalid value: 1: spec.ports[1].port\nanother entry has this port"},
		"a port's name twice":    {ports(AddressPort{Name: "a", Port: 1}, AddressPort{Name: "a"}), "invalid value: a: spec.ports[1].name\nanother port has this name"},
		"two ports by name":      {ports(AddressPort{Name: "a"}, AddressPort{Name: "b"}), ""},
		"a port without name":    {ports(AddressPort{Port: 1}), "missing field(s): spec.ports[0].name"},
		"an unknown protocol": {
			ports(AddressPort{Name: "a", AppProtocol: "ftp"}),
			"invalid value: ftp: spec.ports[0].appProtocol\nmust be one of http, https, grpc, kubernetes.io/h2c, kubernetes.io/ws, kubernetes.io/wss",
		},
		"a path that leads up":      {path("/a/../b"), "invalid value: /a/../b: spec.path\npath must not hold the segments . or .."},
		"a path that is empty":      {path(""), "missing field(s): spec.path"},
		"a path without a slash":    {path("a"), "invalid value: a: spec.path\nmust match " + pathText.pattern.String()},
		"a path and a line's end":   {path("/a\n"), "invalid value: /a\n: spec.path\nmust match " + pathText.pattern.String()},
		"an unknown visibility":     {func(s *AddressableServiceSpec) { s.Visibility = "mesh" }, "invalid value: mesh: spec.visibility\nmust be one of ClusterLocal, Public"},
		"an alias that is no label": {func(s *AddressableServiceSpec) { s.Publish = &Publication{Alias: "1"} }, "invalid value: 1: spec.publish.alias\nmust match " + aliasText.pattern.String()},
	} {
		t.Run(name, func(t *testing.T) {
			as := newObject()
			test.edit(&as.Spec)
			got := ""
			if err := as.Validate(apis.WithinCreate(t.Context())); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// A value that was accepted before must not block a later update of another field.
			if err := as.Validate(apis.WithinUpdate(t.Context(), as.DeepCopy())); err != nil {
				t.Errorf("an update that leaves the spec as it is: %v", err)
			}
		})
	}
}

func TestValidateAddresses_TooLong_NamesTheField(t *testing.T) {
	long := strings.Repeat("x", maxCACerts+1)
	parse := func(u string) *apis.URL {
		parsed, err := apis.ParseURL(u)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for want, a := range map[string]duckv1.Addressable{
		"is not a URI of at most 8192 characters":             {URL: parse("http://d/" + long)},
		"its CACerts have more than 65536 characters":         {URL: parse("http://d"), CACerts: &long},
		"its audience has more than 2048":                     {URL: parse("http://d"), Audience: &long},
		`its URL "d" is not a URI of at most 8192 characters`: {URL: parse("d")},
	} {
		if err := ValidateAddresses([]duckv1.Addressable{a}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}
