/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/binding"
)

func TestAddressBinding_EveryKindWithAPodTemplate_IsBound(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for kind, tc := range map[string]struct {
		apiVersion, resource, spec string
		path                       []string
	}{
		"StatefulSet": {"apps/v1", "statefulsets", "serviceName: s, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: %s}", podTemplate},
		"DaemonSet":   {"apps/v1", "daemonsets", "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: %s}", podTemplate},
		"CronJob": {
			"batch/v1", "cronjobs", "suspend: true, schedule: '@yearly', jobTemplate: {spec: {template: {spec: %s}}}",
			[]string{"spec", "jobTemplate", "spec", "template", "spec"},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, env)
			manifest := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: s}\nspec: {%s}\n", tc.apiVersion, kind,
				fmt.Sprintf(tc.spec, "{restartPolicy: "+map[bool]string{true: "Never", false: "Always"}[kind == "CronJob"]+
					", initContainers: [{name: i, image: i}], containers: [{name: c, image: c}, {name: d, image: d, env: [{name: A, value: b}]}]}"))
			subject := w.Apply(t, w.ns, manifest)[0]
			mark := w.Mark(t)
			ab := w.bind(t, "b", fmt.Sprintf("{apiVersion: %s, kind: %s, name: s}", tc.apiVersion, kind))
			w.Await(t, ab, harness.Ready, counts(1, 1))
			w.Await(t, subject, has(address, tc.path...))
			if got := w.patches(t, mark, tc.resource); len(got) != 1 {
				t.Errorf("the controller wrote %d times to it, want once: %v", len(got), got)
			}
			w.Delete(t, ab)
			w.Await(t, ab, harness.Deleted)
			w.Await(t, subject, has("", tc.path...))
		})
	}
}

func TestAddressBinding_Job_IsBoundAtCreationOrNever(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	job := func(name string) string {
		return fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {name: %s, labels: {bound: to-it}}
spec:
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}
`, name)
	}
	early := w.Apply(t, w.ns, job("early"))[0]
	ab := w.bind(t, "b", "{apiVersion: batch/v1, kind: Job, selector: {matchLabels: {bound: to-it}}}")
	w.Await(t, ab, notBound("SubjectImmutable"), harness.HasCondition("Intercepted", "True", ""), counts(1, 0))
	w.AwaitAdmission(t, w.ns, job("late"), has(address))
	late := w.Apply(t, w.ns, job("late"))[0]
	w.Await(t, late, has(address))
	w.Await(t, ab, counts(2, 1))
	w.Delete(t, early)
	w.Await(t, ab, harness.Ready, counts(1, 1))
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
	if err := has(address)(w.get(t, late)); err != nil {
		t.Errorf("what a Job was made with stays: %v", err)
	}
}

func TestAddressBinding_SimpleDeployment_IsBoundThroughConfigurable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	value := func(want ...any) harness.Condition {
		return func(o *unstructured.Unstructured) error {
			got, _, _ := unstructured.NestedSlice(o.Object, "spec", "configurable", "env")
			if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
				return fmt.Errorf("its variables (-want, +got):\n%s", diff)
			}
			return nil
		}
	}
	bare := w.Apply(t, w.ns, "apiVersion: samples.knative.dev/v1alpha1\nkind: SimpleDeployment\nmetadata: {name: bare, labels: {bound: to-it}}\nspec: {image: i, replicas: 0}\n")[0]
	full := w.Apply(t, w.ns, "apiVersion: samples.knative.dev/v1alpha1\nkind: SimpleDeployment\nmetadata: {name: full, labels: {bound: to-it}}\nspec: {image: i, replicas: 0, configurable: {env: [{name: A, value: b}]}}\n")[0]
	ab := w.bind(t, "b", "{apiVersion: samples.knative.dev/v1alpha1, kind: SimpleDeployment, selector: {matchLabels: {bound: to-it}}}")
	w.Await(t, ab, harness.Ready, counts(2, 2))
	ours := map[string]any{"name": "K_ADDRESS", "value": address}
	own := map[string]any{"name": "A", "value": "b"}
	w.Await(t, bare, value(ours))
	w.Await(t, full, value(own, ours))
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
	w.Await(t, bare, value())
	w.Await(t, full, value(own))
}

// managedBy are the fields of each manager, except for those of status.
func managedBy(o *unstructured.Unstructured) map[string]string {
	fields := map[string]string{}
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource == "" && entry.FieldsV1 != nil {
			fields[entry.Manager+" "+string(entry.Operation)] += string(entry.FieldsV1.Raw)
		}
	}
	return fields
}

// without removes what a binding may change.
func without(t *testing.T, o *unstructured.Unstructured, variable string) map[string]any {
	t.Helper()
	o = o.DeepCopy()
	o.SetManagedFields(nil)
	o.SetGeneration(0)
	o.SetResourceVersion("")
	annotations := o.GetAnnotations()
	if variable != "" {
		delete(annotations, samples.BoundVariablesAnnotationKey)
	}
	if len(annotations) == 0 {
		// Custom resources keep the map that the mark was in.
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations")
	} else {
		o.SetAnnotations(annotations)
	}
	for _, field := range []string{"initContainers", "containers"} {
		path := append(append([]string{}, podTemplate...), field)
		containers, _, err := unstructured.NestedSlice(o.Object, path...)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range containers {
			container := c.(map[string]any)
			var kept []any
			variables, _ := container["env"].([]any)
			for _, v := range variables {
				if v.(map[string]any)["name"] != variable {
					kept = append(kept, v)
				}
			}
			if delete(container, "env"); len(kept) > 0 {
				container["env"] = kept
			}
		}
		if err := unstructured.SetNestedSlice(o.Object, containers, path...); err != nil {
			t.Fatal(err)
		}
	}
	return o.Object
}

func TestAddressBinding_BoundSubject_IsOtherwiseUnchangedAndCanBeApplied(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"client-side": nil, "server-side": {"--server-side"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, harness.Shared(t))
			manifest := deployment("d", "")
			w.put(t, manifest, flags...)
			d := deployments(w.ns, "d")
			before := w.get(t, d)
			ab := w.bind(t, "b", byName)
			w.Await(t, ab, harness.Ready)
			after := w.Await(t, d, has(address))

			if diff := cmp.Diff(without(t, before, ""), without(t, after, "K_ADDRESS")); diff != "" {
				t.Errorf("something else has changed (-before, +after):\n%s", diff)
			}
			wasManaged, isManaged := managedBy(before), managedBy(after)
			ours := isManaged[binding.FieldManager+" "+string(metav1.ManagedFieldsOperationUpdate)]
			delete(isManaged, binding.FieldManager+" "+string(metav1.ManagedFieldsOperationUpdate))
			if diff := cmp.Diff(wasManaged, isManaged); diff != "" {
				t.Errorf("the fields of others have changed (-before, +after):\n%s", diff)
			}
			if !strings.Contains(ours, `k:{\"name\":\"K_ADDRESS\"}`) || strings.Contains(ours, "OWN") || strings.Contains(ours, "f:image") {
				t.Errorf("our fields are %s", ours)
			}

			// The same manifest changes nothing, another one what it says.
			w.put(t, manifest, flags...)
			if got := w.get(t, d); got.GetGeneration() != after.GetGeneration() {
				t.Errorf("the same manifest has made generation %d of %d", got.GetGeneration(), after.GetGeneration())
			}
			w.put(t, strings.ReplaceAll(manifest, "value: kept", "value: changed"), flags...)
			changed := w.Await(t, d, has(address))
			if got := environments(changed, podTemplate...)["main"]; !strings.Contains(strings.Join(got, " "), "OWN=changed") {
				t.Errorf("the variables are %q", got)
			}
			w.put(t, strings.Replace(manifest, "{name: side,", "{name: side, env: [],", 1), flags...)
			w.Await(t, d, has(address))
			w.Delete(t, ab)
			w.Await(t, ab, harness.Deleted)
			w.put(t, manifest, flags...)
			if diff := cmp.Diff(without(t, before, ""), without(t, w.get(t, d), "")); diff != "" {
				t.Errorf("the binding has left something behind (-before, +after):\n%s", diff)
			}
		})
	}
}
