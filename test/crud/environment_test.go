/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/measured"
)

// The providers of OpenTelemetry are set once per process.
var (
	measurements = sdkmetric.NewManualReader()
	spans        = measured.Spans()
)

func TestMain(m *testing.M) {
	if os.Getenv(killEnv) != "" {
		runAndKill()
	}
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(measurements)))
	harness.Search("the spans and metrics", func() string { return measured.Exported(spans, measurements) })
	harness.Main(m, harness.Bare())
}

// The kinds of the cases: with status subresource and a list with keys, without status subresource, for one test that reads metrics, and without
// namespaces.
const group = "crud.example.com"

var (
	widgets = schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	gadgets = schema.GroupVersionResource{Group: group, Version: "v1", Resource: "gadgets"}
)

const manifest = `
group: crud.example.com
scope: Namespaced
versions:
- name: v1
  served: true
  storage: true
  schema:
    openAPIV3Schema:
      type: object
      properties:
        spec:
          type: object
          properties:
            size: {type: integer, format: int64}
            list: {type: array, items: {type: string}}
            parts:
              type: array
              x-kubernetes-list-type: map
              x-kubernetes-list-map-keys: [name]
              items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}
        status: {type: object, properties: {phase: {type: string}, count: {type: integer}}}
`

// define defines the kinds, once for all tests.
var define = sync.OnceValue(func() error {
	for _, kind := range []string{"Widget", "Gadget", "Measured", "ClusterThing"} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(manifest), &crd.Spec); err != nil {
			return err
		}
		plural := strings.ToLower(kind) + "s"
		crd.Name = plural + "." + group
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural, Singular: strings.ToLower(kind)}
		switch kind {
		case "Widget", "Measured":
			crd.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
		case "ClusterThing":
			crd.Spec.Scope = apiextensionsv1.ClusterScoped
		}
		if _, err := shared.CRDs.ApiextensionsV1().CustomResourceDefinitions().Create(context.Background(), crd, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("defining %s: %w", kind, err)
		}
	}
	return nil
})

// shared is the environment of all tests.
var (
	shared    *harness.Env
	startOnce sync.Once
)

// awaitKinds defines the kinds and waits until they are served.
func awaitKinds(t testing.TB) {
	t.Helper()
	if err := define(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"widgets", "gadgets", "measureds", "clusterthings"} {
		harness.Eventually(t, kind+" are served", func(ctx context.Context) error {
			_, err := shared.Dynamic.Resource(widgets.GroupVersion().WithResource(kind)).List(ctx, metav1.ListOptions{})
			return err
		})
	}
}

// scene is a namespace, a client of package crud whose requests are counted and can be disturbed, and another client.
type scene struct {
	*testing.T
	env    *harness.Env
	ns     string
	config *rest.Config
	client *crud.Client
	proxy  *harness.Proxy
	// sent returns how many reads and writes of objects in the namespace the client has sent since the last call.
	sent func() (reads, writes int)
}

func newScene(t *testing.T, options ...func(*crud.Options)) *scene {
	t.Helper()
	t.Parallel()
	env := harness.Shared(t)
	startOnce.Do(func() { shared = env })
	awaitKinds(t)
	config, proxy := env.Proxied(t)
	settings := crud.Options{FieldManager: "crud-test"}
	for _, option := range options {
		option(&settings)
	}
	client, err := crud.New(config, settings)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, env: env, ns: env.Namespace(t), config: config, client: client, proxy: proxy}
	here := harness.InNamespace(s.ns)
	get, all := proxy.Count(harness.Matching("get", "*").And(here)), proxy.Count(here)
	var lastReads, lastAll int
	s.sent = func() (reads, writes int) {
		reads, everything := get()-lastReads, all()-lastAll
		lastReads, lastAll = lastReads+reads, lastAll+everything
		return reads, everything - reads
	}
	return s
}

// run runs an operation that succeeds with an outcome.
func (s *scene) run(op crud.Operation, want crud.Outcome) crud.Result {
	s.Helper()
	result, err := s.client.Run(s.Context(), op)
	if err != nil {
		s.Fatalf("%s failed: %v", op, err)
	}
	if result.Outcome != want {
		s.Fatalf("%s: the outcome is %s, want %s", op, result.Outcome, want)
	}
	return result
}

// fails runs an operation that fails with a class, and returns the message.
func (s *scene) fails(op crud.Operation, want crud.Class) string {
	s.Helper()
	result, err := s.client.Run(s.Context(), op)
	if class := crud.ClassOf(err); class != want {
		s.Fatalf("%s: the class is %q, want %q: %v (outcome %s)", op, class, want, err, result.Outcome)
	}
	if failed, ok := errors.AsType[*crud.Error](err); !ok || strings.Contains(err.Error(), "\n") {
		s.Errorf("the error is not an Error of one line: %#v", failed)
	}
	return err.Error()
}

// expectSent checks the requests since the last call.
func (s *scene) expectSent(reads, writes int) {
	s.Helper()
	if gotReads, gotWrites := s.sent(); gotReads != reads || gotWrites != writes {
		s.Errorf("sent %d reads and %d writes, want %d and %d", gotReads, gotWrites, reads, writes)
	}
}

func (s *scene) configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name}, Data: data}
}

// object reads an unstructured object from YAML, without its namespace.
func (s *scene) object(text string) *unstructured.Unstructured {
	s.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		s.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		s.Fatal(err)
	}
	object.SetNamespace(s.ns)
	return object
}

func (s *scene) ref(kind, name string) crud.Ref {
	return crud.Ref{Kind: kind, Namespace: s.ns, Name: name}
}

// get reads an object as another client.
func (s *scene) get(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	s.Helper()
	object, err := s.env.Dynamic.Resource(resource).Namespace(s.ns).Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return object
}

// patch changes an object as another client.
func (s *scene) patch(resource schema.GroupVersionResource, name, patch string, subresources ...string) *unstructured.Unstructured {
	s.Helper()
	// It runs in clean-ups, too, when the test's context has ended.
	object, err := s.env.Dynamic.Resource(resource).Namespace(s.ns).Patch(context.WithoutCancel(s.Context()), name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: "other"}, subresources...)
	if err != nil {
		s.Fatal(err)
	}
	return object
}

var (
	configMaps  = corev1.SchemeGroupVersion.WithResource("configmaps")
	deployments = appsv1.SchemeGroupVersion.WithResource("deployments")
)

// field returns a field of an object as text, empty without it.
func field(t testing.TB, object *unstructured.Unstructured, path ...string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// ended holds the result of an operation in another goroutine.
type ended struct {
	result crud.Result
	err    error
}

// begin runs an operation in another goroutine.
func (s *scene) begin(op crud.Operation) <-chan ended {
	done := make(chan ended, 1)
	go func() {
		result, err := s.client.Run(s.Context(), op)
		done <- ended{result, err}
	}()
	return done
}

// beginHeld begins an operation whose next matching request is held.
func (s *scene) beginHeld(op crud.Operation, match harness.Match) (*harness.Held, <-chan ended) {
	s.Helper()
	held := s.proxy.Hold(match.And(harness.InNamespace(s.ns)))
	done := s.begin(op)
	select {
	case <-held.Caught():
	case early := <-done:
		s.Fatalf("%s ended before the request: %s, %v", op, early.result.Outcome, early.err)
	}
	return held, done
}

// quick makes few attempts, so that a test of the limit does not wait for long.
func quick(options *crud.Options) { options.Backoff = quickBackoff(5 * time.Millisecond) }

func quickBackoff(delay time.Duration) wait.Backoff {
	return wait.Backoff{Duration: delay, Factor: 2, Steps: 5}
}
