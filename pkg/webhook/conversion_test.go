/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	_ "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition/fake"
	_ "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake"
	rtesting "knative.dev/pkg/reconciler/testing"
	_ "knative.dev/pkg/system/testing"
	knativewebhook "knative.dev/pkg/webhook"
	knativeconversion "knative.dev/pkg/webhook/resourcesemantics/conversion"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/conversiontest"
	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/conversion/knative"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1storage "github.com/mallard-dev/mallard/pkg/apis/samples/v1/storage"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/measured"
)

const group = "samples.knative.dev/"

// servedVersions are the versions of an AddressableService that are served.
func servedVersions() []conversiontest.Version {
	var all []conversiontest.Version
	for _, version := range slices.Sorted(maps.Keys(conversions()[samples.Kind("AddressableService")].Zygotes)) { // a seed repeats a test only if the order is always the same
		all = append(all, conversiontest.Version{Name: version, New: func() metav1.Object {
			return instances[metav1.Object]()[samples.Kind("AddressableService").WithVersion(version)]
		}})
	}
	return all
}

// convertThrough converts objects, with any version as hub: only the hub's methods are called.
func convertThrough(t *testing.T, hub, to string, objects ...string) []string {
	t.Helper()
	kinds := conversions()
	kind := kinds[samples.Kind("AddressableService")]
	kind.HubVersion = hub
	kinds[samples.Kind("AddressableService")] = kind
	response := review(t, kinds, to, objects...)
	if response.Result.Status != metav1.StatusSuccess {
		t.Fatalf("to %s: %s", to, response.Result.Message)
	}
	converted := make([]string, len(response.ConvertedObjects))
	for i, object := range response.ConvertedObjects {
		converted[i] = canonical(t, json.RawMessage(object.Raw))
	}
	return converted
}

// review has the handler of our webhook convert objects, which is knative.dev/pkg's own.
func review(t *testing.T, kinds map[schema.GroupKind]knativeconversion.GroupKindConversion, to string, objects ...string,
) *apiextensionsv1.ConversionResponse {
	t.Helper()
	ctx, _ := rtesting.SetupFakeContext(t)
	ctx = knativewebhook.WithOptions(ctx, knativewebhook.Options{SecretName: "webhook-certs"})
	impl := knativeconversion.NewConversionController(ctx, "/conversion", kinds, knative.WithConverting)
	request := &apiextensionsv1.ConversionRequest{UID: "uid", DesiredAPIVersion: group + to}
	for _, object := range objects {
		request.Objects = append(request.Objects, runtime.RawExtension{Raw: []byte(object)})
	}
	return impl.Reconciler.(knativewebhook.ConversionController).Convert(ctx, request)
}

func canonical(t *testing.T, value any) string {
	t.Helper()
	text, err := conversion.Canonical(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConversion_EveryVersion_IsLossless(t *testing.T) {
	objects := testrand.Inputs(t) // in one request, as in a LIST
	versions := servedVersions()
	random := conversiontest.Kind{Versions: versions}.Random(t)
	for _, from := range versions {
		originals := make([]string, objects)
		for i := range originals {
			made := random(from)
			made.(runtime.Object).GetObjectKind().SetGroupVersionKind(samples.Kind("AddressableService").WithVersion(from.Name))
			originals[i] = canonical(t, made)
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

// One malformed object must not break lists of the others.
func TestConversion_OneMalformedAnnotation_OtherObjectsConvert(t *testing.T) {
	const (
		objects = 100
		good    = `{"apiVersion":"samples.knative.dev/v1","kind":"AddressableService","metadata":{"name":"a"},"spec":{"ref":{"apiVersion":"v1","kind":"Service","name":"web"}},"status":{}}`
		want    = `{"apiVersion":"samples.knative.dev/v1alpha1","kind":"AddressableService","metadata":{"name":"a"},"spec":{"serviceName":"web"},"status":{}}`
	)
	for what, annotation := range map[string]string{
		"cut off":       `{\"f\":1,`,
		"too large":     strings.Repeat("x", 1<<20),
		"deeply nested": strings.Repeat("[", 10000),
	} {
		bad := strings.Replace(good, `"name":"a"`, `"name":"a","annotations":{"conversion.samples.knative.dev/properties":"`+annotation+`"}`, 1)
		before, _ := measured.Sum(t, meters, "conversion.bag.dropped")
		got := convertThrough(t, "v1", "v1alpha1", slices.Insert(slices.Repeat([]string{good}, objects-1), objects/2, bad)...)
		if diff := cmp.Diff(slices.Repeat([]string{want}, objects), got); diff != "" {
			t.Errorf("one that is %s (-want +got):\n%s", what, diff)
		}
		if after, _ := measured.Sum(t, meters, "conversion.bag.dropped"); after-before != 1 {
			t.Errorf("one that is %s: %d annotations were dropped, want 1", what, after-before)
		}
	}
}

var meters = sdkmetric.NewManualReader()

func TestMain(m *testing.M) {
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(meters)))
	os.Exit(m.Run())
}

// breaking is a version whose hook panics.
type breaking struct{ v1alpha1.AddressableService }

func (b *breaking) DeepCopyObject() runtime.Object { return &breaking{} }

func (b *breaking) AssignToHub(*v1storage.AddressableService) error { panic("boom") }

func (b *breaking) AssignFromHub(*v1storage.AddressableService) error { panic("boom") }

// Otherwise the connection would break, and the API server say nothing but EOF.
func TestConversion_PanicInAHook_IsReported(t *testing.T) {
	kinds := conversions()
	kinds[samples.Kind("AddressableService")].Zygotes["v1alpha1"] = &breaking{}
	for from, to := range map[string]string{"v1alpha1": "v1", "v1": "v1alpha1"} {
		before, _ := measured.Sum(t, meters, "conversion.panics")
		response := review(t, kinds, to, fmt.Sprintf(`{"apiVersion":"samples.knative.dev/%s","kind":"AddressableService","metadata":{"name":"a"},"spec":{}}`, from))
		for _, want := range []string{"converting *v1.AddressableService: panic in ", "(conversion_test.go:", "boom"} {
			if response.Result.Status != metav1.StatusFailure || !strings.Contains(response.Result.Message, want) {
				t.Errorf("%s to %s: %s, %q; want a failure that says %q", from, to, response.Result.Status, response.Result.Message, want)
			}
		}
		if after, _ := measured.Sum(t, meters, "conversion.panics"); after-before != 1 {
			t.Errorf("%s to %s: %d panics were counted, want 1", from, to, after-before)
		}
	}
}

// The handler sets defaults on whatever it has converted. Nothing may come of it, also where parts are missing.
func TestConversion_Objects_GetNoDefaults(t *testing.T) {
	const head = `"apiVersion":"samples.knative.dev/%s","kind":"AddressableService","metadata":{"name":"a"}`
	for _, spec := range []string{``, `,"spec":null`, `,"spec":{}`} {
		for _, from := range servedVersions() {
			for to, want := range map[string]string{
				"v1alpha1": `,"spec":{"serviceName":""},"status":{}}`,
				"v1beta1":  `}`,
				"v1":       `,"status":{}}`,
			} {
				got := convertThrough(t, "v1", to, fmt.Sprintf(`{`+head+spec+`}`, from.Name))
				if diff := cmp.Diff([]string{fmt.Sprintf(`{`+head+want, to)}, got); diff != "" {
					t.Errorf("%s of %s at %s (-want +got):\n%s", spec, from.Name, to, diff)
				}
			}
		}
	}
}

// The API server converts nothing of a kind that has one version, so its CRD never names the webhook.
func TestConversions_KindOfOneVersion_IsNotConverted(t *testing.T) {
	kinds := conversions()
	for groupKind, versions := range servedKinds() {
		conversion, ok := kinds[groupKind]
		if ok != (len(versions) > 1) || ok && len(conversion.Zygotes) != len(versions) {
			t.Errorf("%s has the versions %q, and is converted between %v", groupKind, versions, conversion.Zygotes)
		}
		if ok && conversion.DefinitionName != crdOf(t, groupKind).Name {
			t.Errorf("the CRD of %s is %q, want %q", groupKind, conversion.DefinitionName, crdOf(t, groupKind).Name)
		}
	}
}

func TestDefaulting_ObjectOfEachVersion_GetsClassAndFinalizer(t *testing.T) {
	for version, spec := range map[string]string{"v1alpha1": `"spec":{"serviceName":"s"}`, "v1beta1": `"spec":{"ref":{"kind":"Service","name":"s"}}`} {
		response := admit(t, newDefaulting(t), kindOf(version, "AddressableService"), `{"metadata":{},`+spec+`}`)
		for _, want := range []string{`samples.knative.dev/addressableservice.class`, `["samples.knative.dev/addressableservice"]`} {
			if !response.Allowed || !strings.Contains(string(response.Patch), want) {
				t.Errorf("%s: the patch is %s, want one with %s", version, response.Patch, want)
			}
		}
	}
}
