/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

func TestShapeOf_Kinds_ReturnsTheirShape(t *testing.T) {
	configurable := map[string]string{"duck.samples.knative.dev/configurable": "true"}
	for name, test := range map[string]struct {
		kind      schema.GroupKind
		crdLabels map[string]string
		want      Shape
	}{
		"Deployment":                  {kind: deployments, want: PodTemplate},
		"Job":                         {kind: jobs, want: JobTemplate},
		"CronJob":                     {kind: schema.GroupKind{Group: "batch", Kind: "CronJob"}, want: CronJob},
		"a foreign CronJob":           {kind: schema.GroupKind{Group: "example.com", Kind: "CronJob"}, want: PodTemplate},
		"a kind with the label":       {kind: schema.GroupKind{Group: "example.com", Kind: "Runner"}, crdLabels: configurable, want: Configurable},
		"a kind with another label":   {kind: schema.GroupKind{Group: "example.com", Kind: "Runner"}, crdLabels: map[string]string{"duck.knative.dev/podspecable": "true"}, want: PodTemplate},
		"a kind that denies the duck": {kind: schema.GroupKind{Group: "example.com", Kind: "Runner"}, crdLabels: map[string]string{"duck.samples.knative.dev/configurable": "false"}, want: PodTemplate},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ShapeOf(test.kind, test.crdLabels); got != test.want {
				t.Errorf("ShapeOf() = %v, want %v", got, test.want)
			}
		})
	}
}

// A ClusterRole that an administrator adds for a kind is aggregated by its label.
func TestShapes_ClusterRoles_AreAggregatedByLabel(t *testing.T) {
	roles, err := os.ReadFile("../../config/200-addressbinding-roles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []Shape{PodTemplate, CronJob, Configurable, JobTemplate} {
		if selector := "- matchLabels:\n        " + shape.RoleLabelKey() + `: "true"`; !strings.Contains(string(roles), selector) {
			t.Errorf("no role gathers those with the label of shape %v: %s", shape, selector)
		}
	}
}

func TestShapes_Immutable_IsJobOnly(t *testing.T) {
	if !Immutable(schema.GroupKind{Group: "batch", Kind: "Job"}) {
		t.Error("a Job's variables can be changed")
	}
	for _, kind := range []schema.GroupKind{deployments, {Group: "batch", Kind: "CronJob"}, {Group: "example.com", Kind: "Job"}} {
		if Immutable(kind) {
			t.Errorf("the variables of %s cannot be changed", kind)
		}
	}
}

func TestBuiltIn_Kinds_AreThoseThatKeepATemplate(t *testing.T) {
	for kind, want := range map[schema.GroupKind]bool{
		deployments: true, jobs: true, {Group: "batch", Kind: "CronJob"}: true, {Kind: "ReplicationController"}: false, {Group: "apps", Kind: "ReplicaSet"}: false, {Kind: "Pod"}: false, {Kind: "Secret"}: false,
		{Group: "coordination.k8s.io", Kind: "Lease"}: false, {Group: "example.com", Kind: "Runner"}: false,
	} {
		if _, got := BuiltIn[kind]; got != want {
			t.Errorf("%s can be bound: %t, want %t", kind, got, want)
		}
	}
}

func TestSelection_Labels_IncludeAndExclude(t *testing.T) {
	const include, exclude = "bindings.knative.dev/include", "bindings.knative.dev/exclude"
	labels := []map[string]string{
		nil,
		{include: "true"},
		{exclude: "true"},
		{include: "true", exclude: "true"},
		{include: "false", exclude: "false"},
	}
	// By the indexes of the namespace's labels and the object's.
	included := sets.New([2]int{1, 0}, [2]int{0, 1}, [2]int{1, 1}, [2]int{1, 4}, [2]int{4, 1})
	for namespace := range labels {
		for object := range labels {
			got := Included(labels[namespace], labels[object]) && !Excluded(labels[namespace], labels[object])
			if want := included.Has([2]int{namespace, object}); got != want {
				t.Errorf("namespace %v and object %v: included is %t, want %t", labels[namespace], labels[object], got, want)
			}
		}
	}
}

func TestFinished_Job_ReportsCompletion(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false,
		`{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`:      true,
		`{"status":{"conditions":[{"type":"Failed","status":"True"}]}}`:        true,
		`{"status":{"conditions":[{"type":"Complete","status":"False"}]}}`:     false,
		`{"status":{"conditions":[{"type":"Suspended","status":"True"}]}}`:     false,
		`{"status":{"conditions":[{"type":"FailureTarget","status":"True"}]}}`: false,
	} {
		job := read(t, JobTemplate, text)
		if got := Finished(job); got != want {
			t.Errorf("Finished(%s) = %t, want %t", text, got, want)
		}
		if got := Finished(job.DeepCopyObject()); got != want {
			t.Errorf("Finished(copy of %s) = %t, want %t", text, got, want)
		}
	}
	if Finished(read(t, PodTemplate, `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`)) {
		t.Error("an object that is no Job is finished")
	}
}

// The conversion webhook would write one of ours without its schema.
func TestWithoutSchemas_OfOthers_LoseThem(t *testing.T) {
	transform := WithoutSchemas(func(group string) bool { return group == "ours.example.com" })
	for group, keeps := range map[string]bool{"ours.example.com": true, "others.example.com": false} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Spec.Group, crd.Labels, crd.ManagedFields = group, map[string]string{"a": "b"}, []metav1.ManagedFieldsEntry{{Manager: "m"}}
		crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Served: true, Schema: &apiextensionsv1.CustomResourceValidation{}}}
		_, err := transform(crd)
		if err != nil || (crd.Spec.Versions[0].Schema != nil) != keeps || (crd.ManagedFields != nil) != keeps || crd.Labels["a"] != "b" || !crd.Spec.Versions[0].Served {
			t.Errorf("the CRD is %+v, the error %v", crd, err)
		}
	}
	if pod, err := transform("no CRD"); err != nil || pod != "no CRD" {
		t.Errorf("another object becomes %v, %v", pod, err)
	}
}

func TestShapes_Each_HasItsOwnDuckType(t *testing.T) {
	for _, shape := range []Shape{PodTemplate, CronJob, Configurable, JobTemplate} {
		object := shape.New()
		// Populate would be better, but the CronJob of knative.dev/pkg is the only one with several layers.
		if environments := Environments(object); (shape == Configurable) != (len(environments) == 1) {
			t.Errorf("an empty %T has %d lists of variables", object, len(environments))
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an object of no shape has variables")
		}
	}()
	Environments(stranger{})
}

// stranger is no duck type of ours.
type stranger struct{ Object }
