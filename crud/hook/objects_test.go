/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"iter"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func snapshots(names ...string) []Snapshot {
	var all []Snapshot
	for _, name := range names {
		all = append(all, Snapshot{Object: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "ns", "name": name}, "data": map[string]any{"k": name},
		}}})
	}
	return append(all, Snapshot{}) // of a binding that keeps no objects
}

func namesOf(objects iter.Seq[*unstructured.Unstructured]) []string {
	var names []string
	for object := range objects {
		names = append(names, object.GetName())
	}
	return names
}

func TestObjects_AnyContexts_AreThoseThatExist(t *testing.T) {
	run := &Run{Contexts: []Context{
		{Binding: "onStartup"},
		{Type: TypeSynchronization, Objects: snapshots("a", "b")},
		{Type: TypeEvent, WatchEvent: Deleted, Snapshot: snapshots("deleted")[0]},
		{Type: TypeEvent, WatchEvent: Modified, Snapshot: snapshots("c")[0]},
		{Type: TypeSchedule, Snapshots: map[string][]Snapshot{"others": snapshots("d", "e")}},
		{Type: TypeGroup, Snapshots: map[string][]Snapshot{"others": snapshots("d", "e")}},
	}}
	if names := namesOf(run.Objects()); !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("the objects are %q", names)
	}
	if names := namesOf(run.Snapshots("others")); !slices.Equal(names, []string{"d", "e"}) {
		t.Errorf("the snapshots are %q", names)
	}
	if names := namesOf(run.Snapshots("none")); names != nil {
		t.Errorf("the snapshots of another binding are %q", names)
	}
	for _, stopAfter := range []string{"a", "b", "c", "d"} {
		for _, objects := range []iter.Seq[*unstructured.Unstructured]{run.Objects(), run.Snapshots("others")} {
			for object := range objects {
				if object.GetName() == stopAfter {
					break // yield must not be called again, which would panic
				}
			}
		}
	}
}

func TestAs_ObjectsOfAType_AreCopies(t *testing.T) {
	run := &Run{Contexts: []Context{{Type: TypeSynchronization, Objects: snapshots("a", "b")}}}
	var names []string
	for configMap, err := range As[corev1.ConfigMap](run.Objects()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, configMap.Name+configMap.Kind+configMap.Data["k"])
		configMap.Data["k"] = "changed"
	}
	if !slices.Equal(names, []string{"aConfigMapa", "bConfigMapb"}) {
		t.Errorf("the objects are %q", names)
	}
	if value, _, _ := unstructured.NestedString(run.Contexts[0].Objects[0].Object.Object, "data", "k"); value != "a" {
		t.Errorf("the object of the cache has %q", value)
	}
}

func TestAs_ObjectDoesNotFit_IsAnErrorThatNamesIt(t *testing.T) {
	run := &Run{Contexts: []Context{{Type: TypeSynchronization, Objects: snapshots("a", "b")}}}
	run.Contexts[0].Objects[0].Object.Object["data"] = "text"
	var errs int
	for configMap, err := range As[corev1.ConfigMap](run.Objects()) {
		switch {
		case err == nil && configMap.Name == "b":
		case err != nil && configMap == nil && strings.Contains(err.Error(), "reading ConfigMap ns/a as *v1.ConfigMap"):
			errs++
		default:
			t.Errorf("got %v, %v", configMap, err)
		}
	}
	if errs != 1 {
		t.Errorf("there are %d errors", errs)
	}
}
