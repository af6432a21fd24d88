/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	manifest string // of the object
	count    string // field of the status, empty for a kind without status subresource
	name     string // of the object
}

var preconditionedKinds = []preconditioned{
	{configMaps, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a: a}}, immutable: true}`, "", "a"},
	{appsv1.SchemeGroupVersion.WithResource("replicasets"), `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a, labels: {a: a}}, spec: {replicas: 0,
		selector: {matchLabels: {a: a}}, template: {metadata: {labels: {a: a}}, spec: {containers: [{name: c, image: i}]}}}}`, "observedGeneration", "a"},
	{widgets, `{apiVersion: ` + group + `/v1, kind: Widget, metadata: {name: a, labels: {a: a}}}`, "count", "a"},
	{gadgets, `{apiVersion: ` + group + `/v1, kind: Gadget, metadata: {name: a, labels: {a: a}}}`, "", "a"},
}

// What another client does with the object: before the operation runs, between its read and its write, and after the preflight of its plan.
var disturbances = []string{"none", "modified before", "modified between", "recreated before", "recreated between"}

// disturbances are more for some kinds.
func (k preconditioned) disturbances() []string {
	switch k.resource {
	case configMaps:
		return append(slices.Clone(disturbances), "deleted between")
	case widgets:
		return append(slices.Clone(disturbances), "deleted before", "deleted between", "none after", "modified after", "recreated after", "deleted after")
	}
	return disturbances
}

// preconditions are in the operation or, for one that has a desired state, also in the object.
func (k preconditioned) preconditions(op crud.Operation) []string {
	all := []string{"uid", "resourceVersion"}
	if k.resource == configMaps {
		all = append(all, "uid and resourceVersion")
	}
	if op.Type == crud.TypeCreateOrUpdate && k.resource == configMaps {
		all = append(all, "uid of the object", "resourceVersion of the object")
	}
	return all
}

// writesOf returns each operation that can have preconditions, on the object that was read. It sets the label "written", or the field of the status.
func (k preconditioned) writesOf(s *scene, read *unstructured.Unstructured, status bool) map[string]crud.Operation {
	ref := s.ref(read.GetKind(), k.name)
	ref.APIVersion = read.GetAPIVersion()
	merge, json, jq := `{"metadata":{"labels":{"written":"7"}}}`, `[{"op":"add","path":"/metadata/labels/written","value":"7"}`, `.metadata.labels.written = "7"`
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
		desired := k.object(s)
		desired.SetLabels(map[string]string{"written": "7"})
		for _, strategy := range []crud.Strategy{crud.Merge, crud.Apply} {
			op := crud.CreateOrUpdate(desired)
			op.Strategy = strategy
			writes["CreateOrUpdate "+string(strategy)] = op
		}
		for _, name := range []string{"JSONPatch", "JQPatch", "FilterPatch"} {
			op := writes[name]
			op.ID = "id"
			writes[name+", id"] = op
		}
		if k.resource == configMaps {
			changed := desired.DeepCopy()
			changed.Object["data"] = map[string]any{"k": "1"}
			op := crud.CreateOrUpdate(changed)
			op.OnImmutable = crud.Recreate
			writes["CreateOrUpdate, recreate"] = op
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

func (k preconditioned) object(s *scene) *unstructured.Unstructured {
	s.Helper()
	object := s.object(k.manifest)
	object.SetName(k.name)
	return object
}

// disturb changes or deletes the object as another client, or creates another one of its name.
func (k preconditioned) disturb(s *scene, how string) {
	s.Helper()
	switch how {
	case "none":
		return
	case "modified":
		s.patch(k.resource, k.name, `{"metadata":{"labels":{"theirs":"1"}}}`)
		return
	}
	objects := s.env.Dynamic.Resource(k.resource).Namespace(s.ns)
	background := metav1.DeletePropagationBackground
	if err := objects.Delete(s.Context(), k.name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		s.Fatal(err)
	}
	if how == "recreated" {
		k.create(s)
	}
}

func (k preconditioned) create(s *scene) *unstructured.Unstructured {
	s.Helper()
	manager := "other"
	if k.resource == configMaps {
		manager = "crud-test" // whose fields the strategy apply takes over by a request before its own
	}
	created, err := s.env.Dynamic.Resource(k.resource).Namespace(s.ns).Create(s.Context(), k.object(s), metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		s.Fatal(err)
	}
	return created
}

// expect checks that the object that was meant is the only one that changed, or that nothing changed and the class says why.
func (k preconditioned) expect(s *scene, row string, op crud.Operation, read *unstructured.Unstructured, how string, isStale bool, err error) {
	s.Helper()
	live, failed := s.env.Dynamic.Resource(k.resource).Namespace(s.ns).Get(s.Context(), k.name, metav1.GetOptions{})
	if failed != nil && !apierrors.IsNotFound(failed) {
		s.Fatalf("%s: reading the object: %v", row, failed)
	}
	isGone := failed != nil || live.GetDeletionTimestamp() != nil
	isWritten := isGone || live.GetLabels()["written"] != "" || k.count != "" && field(s, live, "status", k.count) == int64(7)
	class := crud.ClassOf(err)
	switch {
	case how == "deleted" && !isGone:
		s.Errorf("%s: the object was created again: %v", row, live)
	case how == "deleted" && op.Type.Deletes():
		if err != nil {
			s.Errorf("%s: the object is absent: %v", row, err)
		}
	case how == "deleted":
		if !slices.Contains([]crud.Class{crud.NotFound, crud.Precondition, crud.Conflict}, class) {
			s.Errorf("%s: the object was deleted: the class is %q: %v", row, class, err)
		}
	case isStale && (isWritten || !slices.Contains([]crud.Class{crud.Precondition, crud.Conflict}, class)):
		s.Errorf("%s: another object or state: the class is %q, written: %t: %v; it is %v (%v)", row, class, isWritten, err, live, failed)
	case !isStale && (!isWritten || err != nil):
		s.Errorf("%s: written: %t, %v", row, isWritten, err)
	case isStale || isGone || op.OnImmutable == crud.Recreate:
	case live.GetUID() != read.GetUID():
		s.Errorf("%s: another object was written", row)
	case how == "modified" && live.GetLabels()["theirs"] != "1":
		s.Errorf("%s: the change of the other client is lost: %v", row, live.GetLabels())
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
			for name, op := range kind.writesOf(of, kind.sample(of), subresource) {
				t.Run(fmt.Sprintf("%s/%s (status: %t)", kind.resource.Resource, name, subresource), func(t *testing.T) {
					s := newScene(t, quick)
					for i, precondition := range kind.preconditions(op) {
						for j, disturbance := range kind.disturbances() {
							// When the garbage collector and remove take the last finalizer off an object, the API server deletes it twice, the second time by
							// its name alone (deleteWithoutFinalizers): no other row has an object of the same name.
							kind.name = fmt.Sprintf("a-%d-%d", i, j)
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
	sample := k.object(s)
	sample.SetResourceVersion("1")
	return sample
}

func (k preconditioned) row(s *scene, name string, status bool, precondition, disturbance string) {
	s.Helper()
	read := k.create(s)
	defer k.remove(s)
	op := k.writesOf(s, read, status)[name]
	uid, version := read.GetUID(), read.GetResourceVersion()
	switch precondition {
	case "uid":
		op.Preconditions.UID = &uid
	case "resourceVersion":
		op.Preconditions.ResourceVersion = &version
	case "uid and resourceVersion":
		op.Preconditions.UID, op.Preconditions.ResourceVersion = &uid, &version
	case "uid of the object":
		op.Object.SetUID(uid)
	case "resourceVersion of the object":
		op.Object.SetResourceVersion(version)
	}
	how, when, _ := strings.Cut(disturbance, " ")
	isStale := how == "recreated" || how == "modified" && op.RequiredVersion() != ""
	row := fmt.Sprintf("%s %s (status: %t), %s, %s", name, read.GetKind(), status, precondition, disturbance)
	var err error
	switch when {
	case "after":
		_, err = s.client.RunPlan(s.Context(), crud.Plan{
			Operations: []crud.Operation{op, crud.CreateOrUpdate(s.configMap("other", nil))},
			Checked: func(number int) {
				if number == 2 {
					k.disturb(s, how)
				}
			},
		})
	case "between":
		held, done := s.beginHeld(op, k.writing(op))
		k.disturb(s, how)
		held.Release()
		err = (<-done).err
	default:
		k.disturb(s, how)
		_, err = s.client.Run(s.Context(), op)
	}
	k.expect(s, row, op, read, how, isStale, err)
}

// writing matches the request with which an operation writes.
func (k preconditioned) writing(op crud.Operation) harness.Match {
	verb, resource := "patch", k.resource.Resource
	if op.Type.Deletes() || op.OnImmutable == crud.Recreate {
		verb = "delete"
	}
	if op.StatusPatch {
		resource += "/status"
	}
	return harness.Matching(verb, resource)
}

// remove deletes the object of a row at once.
func (k preconditioned) remove(s *scene) {
	s.Helper()
	objects := s.env.Dynamic.Resource(k.resource).Namespace(s.ns)
	ctx := context.WithoutCancel(s.Context())
	_, _ = objects.Patch(ctx, k.name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}) // nothing to do for an object that is deleted
	background := metav1.DeletePropagationBackground
	_ = objects.Delete(ctx, k.name, metav1.DeleteOptions{PropagationPolicy: &background})
}
