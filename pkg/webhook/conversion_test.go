/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	_ "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition/fake"
	_ "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake"
	rtesting "knative.dev/pkg/reconciler/testing"
	_ "knative.dev/pkg/system/testing"
	knativewebhook "knative.dev/pkg/webhook"
	knativeconversion "knative.dev/pkg/webhook/resourcesemantics/conversion"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
	"github.com/mallard-dev/mallard/pkg/conversion"
	"github.com/mallard-dev/mallard/pkg/conversion/conversiontest"
)

const group = "samples.knative.dev/"

var versions = []conversiontest.Version{
	{Name: "v1alpha1", New: func() apis.Convertible { return &v1alpha1.AddressableService{} }},
	{Name: "v1beta1", New: func() apis.Convertible { return &v1beta1.AddressableService{} }},
	{Name: "v1", New: func() apis.Convertible { return &v1.AddressableService{} }},
}

// convertThrough has the handler of our webhook convert objects, which is knative.dev/pkg's own, with any version as hub:
// only the hub's methods are called.
func convertThrough(t *testing.T, hub, to string, objects ...string) []string {
	t.Helper()
	kinds := conversions()
	kind := kinds[v1.Kind("AddressableService")]
	kind.HubVersion = hub
	kinds[v1.Kind("AddressableService")] = kind
	ctx, _ := rtesting.SetupFakeContext(t)
	ctx = knativewebhook.WithOptions(ctx, knativewebhook.Options{SecretName: "webhook-certs"})
	impl := knativeconversion.NewConversionController(ctx, "/conversion", kinds, conversion.WithConverting)

	request := &apiextensionsv1.ConversionRequest{UID: "uid", DesiredAPIVersion: group + to}
	for _, object := range objects {
		request.Objects = append(request.Objects, runtime.RawExtension{Raw: []byte(object)})
	}
	response := impl.Reconciler.(knativewebhook.ConversionController).Convert(ctx, request)
	if response.Result.Status != metav1.StatusSuccess {
		t.Fatalf("to %s: %s", to, response.Result.Message)
	}
	converted := make([]string, len(response.ConvertedObjects))
	for i, object := range response.ConvertedObjects {
		converted[i] = canonical(t, json.RawMessage(object.Raw))
	}
	return converted
}

func canonical(t *testing.T, value any) string {
	t.Helper()
	text, err := conversion.Canonical(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// typed is an object with its apiVersion and kind.
func typed(t *testing.T, object any, version string) string {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal([]byte(canonical(t, object)), &whole); err != nil {
		t.Fatal(err)
	}
	whole["apiVersion"], whole["kind"] = group+version, "AddressableService"
	return canonical(t, whole)
}

func TestObjectsComeBackFromEveryVersion(t *testing.T) {
	const objects = 1000 // in one request, as in a LIST
	random := conversiontest.Kind{Versions: versions}.Random(t)
	for _, from := range versions {
		originals := make([]string, objects)
		for i := range originals {
			originals[i] = typed(t, random(from), from.Name)
		}
		for _, to := range versions {
			for _, hub := range versions {
				t.Run(fmt.Sprintf("%s %s by %s", from.Name, to.Name, hub.Name), func(t *testing.T) {
					shown := convertThrough(t, hub.Name, to.Name, originals...)
					if diff := cmp.Diff(originals, convertThrough(t, hub.Name, from.Name, shown...)); diff != "" {
						t.Errorf("(-before +after):\n%s", diff)
					}
				})
			}
		}
	}
}

// One object that is wrong must not keep anybody from listing the others.
func TestMalformedAnnotationAmongManyObjects(t *testing.T) {
	const (
		good = `{"apiVersion":"samples.knative.dev/v1","kind":"AddressableService","metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"}},"status":{}}`
		bad  = `{"apiVersion":"samples.knative.dev/v1","kind":"AddressableService","metadata":{"name":"a","annotations":{"conversion.samples.knative.dev/properties":"{"}},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"}},"status":{}}`
	)
	want := []string{
		`{"apiVersion":"samples.knative.dev/v1alpha1","kind":"AddressableService","metadata":{"name":"a"},"spec":{"serviceName":"web"},"status":{}}`,
		`{"apiVersion":"samples.knative.dev/v1alpha1","kind":"AddressableService","metadata":{"name":"a"},"spec":{"serviceName":"web"},"status":{}}`,
	}
	if diff := cmp.Diff(want, convertThrough(t, "v1", "v1alpha1", good, bad)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The handler sets defaults on whatever it has converted. Nothing may come of it, also where parts are missing.
func TestConvertingAddsNoDefaults(t *testing.T) {
	const head = `"apiVersion":"samples.knative.dev/%s","kind":"AddressableService","metadata":{"name":"a"}`
	for _, spec := range []string{``, `,"spec":null`, `,"spec":{}`} {
		for _, from := range versions {
			for to, want := range map[string]string{
				"v1alpha1": `,"spec":{"serviceName":""},"status":{}}`,
				"v1beta1":  `}`,
				"v1":       `,"spec":{"ref":{"apiVersion":"","kind":"","name":""}},"status":{}}`,
			} {
				got := convertThrough(t, "v1", to, fmt.Sprintf(`{`+head+spec+`}`, from.Name))
				if diff := cmp.Diff([]string{fmt.Sprintf(`{`+head+want, to)}, got); diff != "" {
					t.Errorf("%s of %s at %s (-want +got):\n%s", spec, from.Name, to, diff)
				}
			}
		}
	}
}
