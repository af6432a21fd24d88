/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// statusSchema validates our status as the API server does.
func statusSchema(t *testing.T) *validate.SchemaValidator {
	t.Helper()
	content, err := os.ReadFile("../../../config/300-addressableservice.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		t.Fatal(err)
	}
	for _, version := range crd.Spec.Versions {
		if version.Name != v1.SchemeGroupVersion.Version {
			continue
		}
		encoded, err := json.Marshal(version.Schema.OpenAPIV3Schema.Properties["status"])
		if err != nil {
			t.Fatal(err)
		}
		schema := &spec.Schema{}
		if err := json.Unmarshal(encoded, schema); err != nil {
			t.Fatal(err)
		}
		return validate.NewSchemaValidator(schema, nil, "status", strfmt.Default)
	}
	t.Fatal("the CRD has no version v1")
	return nil
}

// oddURLs are URLs that a target may have in its status.
var oddURLs = []string{
	"http://h", "http://h/newlines", "http://h/angles", "http://h/long", "http://h/bytes", "//h/x", "h", "/x", "", "?q", "#f",
	"http://", "http:///x", "http:h", "mailto:a@b", "HTTP://H", "1http://h", "http+x://h", "://h",
	"http://h#f", "http://h/#", "http://h/#%zz", "http://h/#%41", "http://h/%2F#a b", "http://h/a b", "http://h/é", "http://é/",
	"http://h?a=%zz", "http://h?#",
	"http://u:p@h", "http://u@h:80/x", "http://@h", "http://h:", "http://h:99999", "http://h:x", "http://[::1]",
	"http://[::1]:8080/x", "http://[::1%25eth0]/",
	"http://h\\x", "http://h/\\x", "http://h/\"<>\"", "http://h/\u2028", "http://h//x", "http://h/../x", "http://h/;x", "http://*",
	"http://a_b", "http://h./", "http:// h",
	"http://h/" + strings.Repeat("%41", 3000), "http://h/" + strings.Repeat("é", 3000), "http://" + strings.Repeat("h", 8192),
	"http://h/" + strings.Repeat("x", 8180),
	"unix:///var/run/x", "data:text/plain,x", "javascript:alert(1)", "http://h/%00", "http://h/%", "http://h/?%", "http://h/#/#",
}

func randomText(r *random) string {
	text := make([]rune, r.Intn(12))
	for i := range text {
		text[i] = pick(r, []rune("ah1/:?#[]@!$&'()*+,;=%<>\"\\ \u00e9\u2028-._~")...)
	}
	return string(text)
}

// The target's own schema may accept what ours rejects; then every status update would fail.
func TestPlanAddresses_AnyTarget_StatusFitsTheSchema(t *testing.T) {
	schema := statusSchema(t)
	random := newRandom(t)
	urls := oddURLs
	for range testrand.Inputs(t) {
		urls = append(urls, "http://h/"+randomText(random), randomText(random)+"://"+randomText(random), "http://h#"+randomText(random))
	}
	const maxCACerts = 65536 // of v1.ValidateAddresses
	certificates := []string{
		"", strings.Repeat("\n", maxCACerts), strings.Repeat("<", maxCACerts), strings.Repeat("x", maxCACerts+1), strings.Repeat("é", maxCACerts),
	}
	var many []v1.AddressPort
	for i := range int32(16) {
		many = append(many, v1.AddressPort{Name: string('a' + i), Port: 1 + i})
	}
	planned := 0
	for i, u := range urls {
		address := map[string]any{"url": u, "audience": u, "name": u}
		if i < len(certificates) {
			address["CACerts"] = certificates[i]
		}
		content, err := json.Marshal(map[string]any{"status": map[string]any{"address": address}})
		if err != nil {
			t.Fatal(err)
		}
		var duck duckv1.AddressableType
		if json.Unmarshal(content, &duck) != nil {
			// The informer delivers it as Malformed.
			continue
		}
		for name, mods := range map[string][]mod{
			"plain": nil, "path": {withPath("/a/b")}, "public": {public}, "ports": {withPorts(many...)},
			"protocol": {withPorts(v1.AddressPort{Name: "a", Port: 80, AppProtocol: "https"})},
		} {
			as := object("a", append(mods, toDuck)...)
			found, p := fromStatus(as.Spec.Ref, duck.Status)
			var addresses []duckv1.Addressable
			if p == nil {
				addresses, p = planAddresses(testConfig(), as, found)
			}
			if p != nil {
				continue
			}
			planned++
			status(func(s *v1.AddressableServiceStatus) { s.MarkTargetResolved(addresses) }, notRequested)(as)
			unstructured, err := runtime.DefaultUnstructuredConverter.ToUnstructured(as)
			if err != nil {
				t.Fatal(err)
			}
			if result := schema.Validate(unstructured["status"]); !result.IsValid() {
				t.Errorf("%s, %.100q: %.300v", name, u, result.Errors)
			}
			if written, err := json.Marshal(as.Status); err != nil || len(written) > 1400<<10 {
				t.Errorf("%s, %.100q: the status takes %d bytes, %v", name, u, len(written), err)
			}
		}
	}
	if planned < len(oddURLs) {
		t.Errorf("only %d statuses were checked", planned)
	}
}
