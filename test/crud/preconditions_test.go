/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// preconditioned is a kind of object of the matrix.
type preconditioned struct {
	resource schema.GroupVersionResource
	manifest string // of the object "a"
	count    string // field of the status, empty for a kind without status subresource
}

var preconditionedKinds = []preconditioned{
	{configMaps, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, ""},
	{appsv1.SchemeGroupVersion.WithResource("replicasets"), `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {replicas: 0,
		selector: {matchLabels: {a: a}}, template: {metadata: {labels: {a: a}}, spec: {containers: [{name: c, image: i}]}}}}`, "observedGeneration"},
	{widgets, `{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: a}}`, "count"},
	{gadgets, `{apiVersion: ` + group + `/v1, kind: Gadget, metadata: {name: a}}`, ""},
}

// writesOf returns each operation that can have preconditions, on the object that was read. It sets the label "written", or the field of the status.
func (k preconditioned) writesOf(s *scene, read *unstructured.Unstructured, status bool) map[string]crud.Operation {
	ref := s.ref(read.GetKind(), "a")
	ref.APIVersion = read.GetAPIVersion()
	merge, json, jq := `{"metadata":{"labels":{"written":"7"}}}`, `[{"op":"add","path":"/metadata/labels","value":{"written":"7"}}`, `.metadata.labels.written = "7"`
	path, value := []string{"metadata", "labels", "written"}, any("7")
	if status {
		merge, json, jq = `{"status":{"`+k.count+`":7}}`, `[{"op":"add","path":"/status/`+k.count+`","value":7}`, ".status."+k.count+" = 7"
		path, value = []string{"status", k.count}, int64(7)
		if k.resource == widgets {
			json = `[{"op":"add","path":"/status","value":{"count":7}}` // new objects have no status
		}
	}
	set := func(object *unstructured.Unstructured) error {
		return unstructured.SetNestedField(object.Object, value, path...)
	}
	writes := map[string]crud.Operation{
		"MergePatch": crud.MergePatch(ref, merge), "JSONPatch": crud.JSONPatch(ref, json+"]"), "FilterPatch": crud.FilterPatch(ref, set),
		"JSONPatch, missing paths": crud.JSONPatch(ref, json+`,{"op":"remove","path":"/metadata/annotations"}]`),
		"JQPatch":                  crud.JQPatch(ref, jq), "FilterPatchOptimistic": crud.FilterPatchOptimistic(read, set),
	}
	if status {
		delete(writes, "JSONPatch, missing paths") // of the metadata
	} else {
		op := writes["JSONPatch, missing paths"]
		op.IgnoreMissingPaths = true
		writes["JSONPatch, missing paths"] = op
		desired := s.object(k.manifest)
		desired.SetLabels(map[string]string{"written": "7"})
		for _, strategy := range []crud.Strategy{crud.Merge, crud.Apply} {
			op := crud.CreateOrUpdate(desired)
			op.Strategy = strategy
			writes["CreateOrUpdate "+string(strategy)] = op
		}
		writes["EnsureDeleted"], writes["EnsureDeletedInBackground"] = crud.EnsureDeleted(ref), crud.EnsureDeletedInBackground(ref)
		writes["EnsureDeletedOrphaning"] = crud.EnsureDeletedOrphaning(ref)
	}
	for name, op := range writes {
		op.StatusPatch = status
		writes[name] = op
	}
	return writes
}

// disturb changes the object as another client, or creates another one of its name.
func (k preconditioned) disturb(s *scene, how string) *unstructured.Unstructured {
	s.Helper()
	if how == "modified" {
		return s.patch(k.resource, "a", `{"metadata":{"labels":{"theirs":"1"}}}`)
	}
	objects := s.env.Dynamic.Resource(k.resource).Namespace(s.ns)
	background := metav1.DeletePropagationBackground
	if err := objects.Delete(s.Context(), "a", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		s.Fatal(err)
	}
	return k.create(s)
}

func (k preconditioned) create(s *scene) *unstructured.Unstructured {
	s.Helper()
	created, err := s.env.Dynamic.Resource(k.resource).Namespace(s.ns).Create(s.Context(), s.object(k.manifest), metav1.CreateOptions{FieldManager: "crud-test"})
	if err != nil {
		s.Fatal(err)
	}
	return created
}

// expect checks that the object that was meant is the only one that changed, or that nothing changed and the class says why.
func (k preconditioned) expect(s *scene, row string, read *unstructured.Unstructured, isStale bool, after ended) {
	s.Helper()
	live, err := s.env.Dynamic.Resource(k.resource).Namespace(s.ns).Get(s.Context(), "a", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatalf("%s: reading the object: %v", row, err)
	}
	written := err != nil || live.GetDeletionTimestamp() != nil || live.GetLabels()["written"] != "" || k.count != "" && field(s, live, "status", k.count) == int64(7)
	class := crud.ClassOf(after.err)
	switch {
	case isStale && (written || !slices.Contains([]crud.Class{crud.Precondition, crud.Conflict}, class)):
		s.Errorf("%s: another object or state: the class is %q, written: %t: %v; it is %v (%v)", row, class, written, after.err, live, err)
	case !isStale && (!written || after.err != nil):
		s.Errorf("%s: written: %t, %v", row, written, after.err)
	case err == nil && !isStale && live.GetUID() != read.GetUID():
		s.Errorf("%s: another object was written", row)
	}
}

// Each operation on each kind either changes the object that the caller meant, or nothing, whenever another client changes the object.
func TestPreconditions_AnyWrite_ChangesTheObjectThatIsMeantOrNothing(t *testing.T) {
	of := newScene(t)
	for _, kind := range preconditionedKinds {
		for _, subresource := range []bool{false, true} {
			if subresource && kind.count == "" {
				continue
			}
			for name := range kind.writesOf(of, kind.sample(of), subresource) {
				t.Run(fmt.Sprintf("%s/%s (status: %t)", kind.resource.Resource, name, subresource), func(t *testing.T) {
					s := newScene(t, quick)
					for _, precondition := range []string{"uid", "resourceVersion"} {
						for _, disturbance := range []string{"none", "modified before", "modified between", "recreated before", "recreated between"} {
							kind.row(s, name, subresource, precondition, disturbance)
						}
					}
				})
			}
		}
	}
}

// sample is an object that does not exist.
func (k preconditioned) sample(s *scene) *unstructured.Unstructured {
	sample := s.object(k.manifest)
	sample.SetResourceVersion("1")
	return sample
}

func (k preconditioned) row(s *scene, name string, status bool, precondition, disturbance string) {
	s.Helper()
	read := k.create(s)
	defer k.remove(s)
	op := k.writesOf(s, read, status)[name]
	uid, version := read.GetUID(), read.GetResourceVersion()
	if precondition == "uid" {
		op.Preconditions.UID = &uid
	} else {
		op.Preconditions.ResourceVersion = &version
	}
	how, when := disturbance, ""
	_, _ = fmt.Sscan(disturbance, &how, &when)
	isStale := how == "recreated" || how == "modified" && (precondition == "resourceVersion" || op.Type == crud.TypeFilterPatchOptimistic)
	row := fmt.Sprintf("%s %s (status: %t), %s, %s", name, read.GetKind(), status, precondition, disturbance)
	if when == "before" {
		k.disturb(s, how)
	}
	if when != "between" {
		result, err := s.client.Run(s.Context(), op)
		k.expect(s, row, read, isStale, ended{result, err})
		return
	}
	verb, resource := "patch", k.resource.Resource
	if op.Type.Deletes() {
		verb = "delete"
	}
	if status {
		resource += "/status"
	}
	held := s.proxy.Hold(harness.Matching(verb, resource).And(harness.InNamespace(s.ns)))
	done := s.begin(op)
	held.Wait(s)
	k.disturb(s, how)
	held.Release()
	k.expect(s, row, read, isStale, <-done)
}

// remove deletes the object of a row at once.
func (k preconditioned) remove(s *scene) {
	s.Helper()
	objects := s.env.Dynamic.Resource(k.resource).Namespace(s.ns)
	ctx := context.WithoutCancel(s.Context())
	_, _ = objects.Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}) // nothing to do for an object that is deleted
	background := metav1.DeletePropagationBackground
	_ = objects.Delete(ctx, "a", metav1.DeleteOptions{PropagationPolicy: &background})
}
