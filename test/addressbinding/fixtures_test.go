/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestMain(m *testing.M) { harness.Main(m) }

const address, otherAddress = "http://first.example.com", "http://second.example.com"

// world is a namespace that opts in to bindings, with an AddressableService hello that has the address.
type world struct {
	*harness.Env

	ns string
}

func newWorld(t testing.TB, env *harness.Env) *world {
	t.Helper()
	w := &world{env, env.Namespace(t)}
	w.label(t, `"true"`)
	w.setAddress(t, address)
	return w
}

// label sets the label by which the namespace opts in, or takes it away with null.
func (w *world) label(t testing.TB, include string) {
	t.Helper()
	w.Patch(t, harness.Ref{Resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Name: w.ns},
		fmt.Sprintf(`{"metadata": {"labels": {"bindings.knative.dev/include": %s}}}`, include))
}

// setAddress gives hello an address, as the operator of its class would. An empty one takes it away.
func (w *world) setAddress(t testing.TB, url string) {
	t.Helper()
	hello := w.Apply(t, w.ns, `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: hello
  annotations: {samples.knative.dev/addressableservice.class: other}
spec:
  ref: {apiVersion: v1, kind: Service, name: none}
`)[0]
	status := fmt.Sprintf(`{"status": {"address": {"url": %q}}}`, url)
	if url == "" {
		status = `{"status": {"address": null, "conditions": [{"type": "TargetResolved", "status": "False", "reason": "TargetNotFound"}]}}`
	}
	w.Patch(t, hello, status, "status")
}

// bind creates a binding of hello to the subject of a reference in YAML's flow style.
func (w *world) bind(t testing.TB, name, subject string, more ...string) harness.Ref {
	t.Helper()
	return w.Apply(t, w.ns, fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: %s}
spec:
  subject: %s
  address: {name: hello}
  %s
`, name, subject, strings.Join(more, "\n  ")))[0]
}

// deployment is a Deployment of an init container and two containers, one of which has variables already.
func deployment(name, labels string, env ...string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, labels: {%[2]s}, annotations: {of: the user}}
spec:
  replicas: 2
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}, annotations: {also: the user's}}
    spec:
      terminationGracePeriodSeconds: 7
      initContainers:
      - {name: setup, image: setup, args: [a, b]}
      containers:
      - name: main
        image: main
        ports: [{containerPort: 8080, name: http}]
        env:
        - {name: OWN, value: kept}
        - {name: REFERRED, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        %[3]s
      - {name: side, image: side, resources: {requests: {cpu: 10m}}}
`, name, labels, strings.Join(env, "\n        "))
}

const byName, byLabel = "{apiVersion: apps/v1, kind: Deployment, name: d}", "{apiVersion: apps/v1, kind: Deployment, selector: {matchLabels: {bound: to-it}}}"

var podTemplate = []string{"spec", "template", "spec"}

// environments are the variables of each container, of those at a path, as lists of name=value.
func environments(o *unstructured.Unstructured, path ...string) map[string][]string {
	found := map[string][]string{}
	for _, field := range []string{"initContainers", "containers"} {
		containers, _, _ := unstructured.NestedSlice(o.Object, append(append([]string{}, path...), field)...)
		for _, container := range containers {
			container := container.(map[string]any)
			name := container["name"].(string)
			found[name] = []string{}
			variables, _ := container["env"].([]any)
			for _, variable := range variables {
				variable := variable.(map[string]any)
				found[name] = append(found[name], fmt.Sprintf("%v=%v", variable["name"], variable["value"]))
			}
		}
	}
	return found
}

// has is that every container has K_ADDRESS exactly once, with this value; with none it is that none has it.
func has(value string, path ...string) harness.Condition {
	return hasVariable("K_ADDRESS", value, path...)
}

func hasVariable(name, value string, path ...string) harness.Condition {
	if len(path) == 0 {
		path = podTemplate
	}
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		containers := environments(o, path...)
		if len(containers) == 0 {
			return errors.New("it has no containers")
		}
		var wrong []error
		for container, variables := range containers {
			var found []string
			for _, v := range variables {
				if n, value, _ := strings.Cut(v, "="); n == name {
					found = append(found, value)
				}
			}
			if got := strings.Join(found, ","); got != value {
				wrong = append(wrong, fmt.Errorf("container %s has %s=%q, want %q", container, name, got, value))
			}
		}
		return errors.Join(wrong...)
	}
}

// counts holds the numbers of subjects of a binding, and of those that have the address.
func counts(matched, bound int64) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		m, _, _ := unstructured.NestedInt64(o.Object, "status", "subjects", "matched")
		b, _, _ := unstructured.NestedInt64(o.Object, "status", "subjects", "bound")
		if m != matched || b != bound {
			return fmt.Errorf("%d of %d subjects are bound, want %d of %d", b, m, bound, matched)
		}
		return nil
	}
}

// isMarked reports whether an object has the mark of bindings.
func isMarked(want bool) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if value, marked := o.GetAnnotations()[samples.BoundVariablesAnnotationKey]; marked != want {
			return fmt.Errorf("its mark is %q, want one: %t", value, want)
		}
		return nil
	}
}

func notBound(reason string) harness.Condition {
	return harness.HasCondition("SubjectsBound", "False", reason)
}

// patchAsOurs merges a JSON text into an object under our own field manager, by which the webhook lets it pass: what becomes of
// the object is the controller's doing. It returns the answer.
func (w *world) patchAsOurs(t *testing.T, ref harness.Ref, patch string) *unstructured.Unstructured {
	t.Helper()
	answer, err := w.Dynamic.Resource(ref.Resource).Namespace(ref.Namespace).Patch(t.Context(), ref.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: binding.FieldManager})
	if err != nil {
		t.Fatalf("patching %s: %v", ref, err)
	}
	return answer
}

// get reads an object.
func (w *world) get(t *testing.T, ref harness.Ref) *unstructured.Unstructured {
	t.Helper()
	return w.Await(t, ref, harness.Exists)
}

// put writes a manifest to a file and applies that as a user does.
func (w *world) put(t *testing.T, manifest string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(w.Kubectl(t, append([]string{"apply", "-n", w.ns, "-f", path}, flags...)...))
}

func deployments(ns, name string) harness.Ref {
	return harness.Ref{Resource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, Namespace: ns, Name: name}
}

// patches are the writes of the controller to a resource in the namespace.
func (w *world) patches(t *testing.T, mark harness.Mark, resource string) []harness.AuditEntry {
	t.Helper()
	return mark.Entries(t, harness.Writes, harness.ByUser(w.User("controller")),
		harness.ByRequest(harness.Matching("*", resource).And(harness.InNamespace(w.ns))))
}

func (w *world) binding(ctx context.Context, name string) (*v1.AddressBinding, error) {
	ab, err := fixtures.Client(w.Env).SamplesV1().AddressBindings(w.ns).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading binding %s: %w", name, err)
	}
	return ab, nil
}

// exactlyOnce fails unless the controller has patched the given number of subjects since, each once.
func (w *world) exactlyOnce(t *testing.T, mark harness.Mark, want int) {
	t.Helper()
	times := map[string]int{}
	entries := w.patches(t, mark, "deployments")
	for _, e := range entries {
		times[e.Name]++
		if e.Code != 200 || e.Verb != "patch" {
			t.Errorf("%s of %s was answered with %d", e.Verb, e.Name, e.Code)
		}
	}
	for name, n := range times {
		if n != 1 {
			t.Errorf("%s was patched %d times", name, n)
		}
	}
	if len(times) != want {
		t.Errorf("%d subjects were patched by %d requests, want %d", len(times), len(entries), want)
	}
}

func hasValue(want string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if got, _, _ := unstructured.NestedString(o.Object, "status", "value"); got != want {
			return fmt.Errorf("its status has value %q, want %q", got, want)
		}
		return nil
	}
}
