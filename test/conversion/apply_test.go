/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// apply applies a manifest server-side as a field manager with a name.
func apply(t *testing.T, env *harness.Env, ref harness.Ref, manager string, force bool, spec string) error {
	t.Helper()
	manifest := fmt.Sprintf(`{"apiVersion": "samples.knative.dev/%s", "kind": "AddressableService",
		"metadata": {"name": %q, "annotations": {"samples.knative.dev/addressableservice.class": "other"}}, "spec": %s}`,
		ref.Resource.Version, ref.Name, spec)
	_, err := client(env, ref).Patch(t.Context(), ref.Name, types.ApplyPatchType, []byte(manifest),
		metav1.PatchOptions{FieldManager: manager, Force: &force, FieldValidation: metav1.FieldValidationStrict})
	return err
}

func mustApply(t *testing.T, env *harness.Env, ref harness.Ref, manager string, force bool, spec string) {
	t.Helper()
	if err := apply(t, env, ref, manager, force, spec); err != nil {
		t.Fatalf("applying at %s as %s: %v", ref.Resource.Version, manager, err)
	}
}

// managers returns the field managers of an object, as lines "MANAGER VERSION: FIELDS".
func managers(t *testing.T, env *harness.Env, ref harness.Ref) []string {
	t.Helper()
	var lines []string
	for _, entry := range get(t, env, ref).GetManagedFields() {
		lines = append(lines, fmt.Sprintf("%s %s: %s", entry.Manager, strings.TrimPrefix(entry.APIVersion, "samples.knative.dev/"), entry.FieldsV1.Raw))
	}
	slices.Sort(lines)
	return lines
}

const (
	classOwned = `"f:metadata":{"f:annotations":{"f:samples.knative.dev/addressableservice.class":{}}}`
	nameOwned  = `"f:spec":{"f:serviceName":{}}`
)

func expectManagers(t *testing.T, env *harness.Env, ref harness.Ref, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, managers(t, env, ref)); diff != "" {
		t.Errorf("who owns what (-want +got):\n%s", diff)
	}
}

func TestApply_ManagersAtTwoVersions_DoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	early, late := at("v1alpha1", ns, "subject"), at(hub, ns, "subject")
	const (
		name  = `{"serviceName": "target"}`
		ports = `{"ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}]}`
	)
	// The second need not set a ref, which the schema of v1 requires: the first has given it.
	mustApply(t, env, early, "m1", false, name)
	mustApply(t, env, late, "m2", false, ports)
	want := spec(t, env, late)
	owned := []string{
		"m1 v1alpha1: {" + classOwned + "," + nameOwned + "}",
		"m2 v1: {" + classOwned + `,"f:spec":{"f:ports":{"k:{\"name\":\"http\"}":{".":{},"f:name":{},"f:port":{}},"k:{\"name\":\"https\"}":{".":{},"f:name":{},"f:port":{}}}}}`,
	}
	// No manager owns the stash, for none applied it.
	expectManagers(t, env, late, owned...)
	generation := get(t, env, late).GetGeneration()
	for range 2 {
		mustApply(t, env, early, "m1", false, name)
		mustApply(t, env, late, "m2", false, ports)
	}
	expectEqual(t, "spec at v1 after both have applied again", want, spec(t, env, late))
	// A dry run at a third version succeeds, and leaves no manager.
	dry := fmt.Sprintf(`{"apiVersion": "samples.knative.dev/v1beta1", "kind": "AddressableService", "metadata": {"name": %q}, "spec": {"path": "/dry"}}`, early.Name)
	if _, err := client(env, at("v1beta1", ns, "subject")).Patch(t.Context(), early.Name, types.ApplyPatchType, []byte(dry),
		metav1.PatchOptions{FieldManager: "m3", DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Errorf("a dry run at v1beta1: %v", err)
	}
	expectManagers(t, env, late, owned...)
	if got := get(t, env, late).GetGeneration(); got != generation {
		t.Errorf("the generation was %d and is %d", generation, got)
	}
}

// A limit: to find out what to remove, the API server converts the object with and without it to the versions of all
// managers. Where both have the annotation, it takes the one with everything, whatever it says. A patch does remove it.
func TestApply_ManagerAtAnOlderVersion_KeepsOneOfTwoHubOnlyFields(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	early, late := at("v1alpha1", ns, "subject"), at(hub, ns, "subject")
	mustApply(t, env, early, "m1", false, `{"serviceName": "target"}`)
	mustApply(t, env, late, "m2", false, `{"path": "/a", "publish": {"alias": "a"}}`)
	before := spec(t, env, late)
	mustApply(t, env, late, "m2", false, `{"publish": {"alias": "a"}}`)
	expectEqual(t, "spec at v1 after the path was dropped", before, spec(t, env, late))

	env.Patch(t, late, `{"spec": {"path": null}}`)
	expectSpec(t, env, late, `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}, "publish": {"alias": "a"}}`)
	// The last of them is removed, and the annotation with it.
	mustApply(t, env, late, "m2", false, `{}`)
	expectSpec(t, env, late, `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}}`)
}

func TestApply_ManagerMovesToTheNewVersion_Succeeds(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	early, late := at("v1alpha1", ns, "subject"), at(hub, ns, "subject")
	mustApply(t, env, early, "m1", false, `{"serviceName": "target"}`)
	before, generation := spec(t, env, late), get(t, env, late).GetGeneration()

	// The same in other words changes nothing but who owns what.
	mustApply(t, env, late, "m1", false, `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}}`)
	const refOwned = `"f:ref":{"f:apiVersion":{},"f:kind":{},"f:name":{}}`
	expectManagers(t, env, late, "m1 v1: {"+classOwned+`,"f:spec":{`+refOwned+"}}")
	expectEqual(t, "spec at v1 after the manager has moved", before, spec(t, env, late))
	if got := get(t, env, late).GetGeneration(); got != generation {
		t.Errorf("the generation was %d and is %d", generation, got)
	}

	mustApply(t, env, late, "m1", false, `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}, "path": "/a"}`)
	expectManagers(t, env, late, "m1 v1: {"+classOwned+`,"f:spec":{"f:path":{},`+refOwned+"}}")
	mustApply(t, env, late, "m1", false, `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}}`)
	expectManagers(t, env, late, "m1 v1: {"+classOwned+`,"f:spec":{`+refOwned+"}}")
	expectEqual(t, "spec at v1 after the path was dropped", before, spec(t, env, late))
}

func TestApply_ConvertedField_ReportsTheConflict(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	early, late := at("v1alpha1", ns, "subject"), at(hub, ns, "subject")
	mustApply(t, env, early, "m1", false, `{"serviceName": "target"}`)
	const other = `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "other"}}`
	err := apply(t, env, late, "m2", false, other)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `"m1"`) {
		t.Fatalf("another name for the target: %v, want a conflict with m1", err)
	}
	mustApply(t, env, late, "m2", true, other)
	if got := get(t, env, early).Object["spec"].(map[string]any)["serviceName"]; got != "other" {
		t.Errorf("serviceName is %q, want the new one", got)
	}
	// The first no longer owns the name that it applied.
	for _, line := range managers(t, env, late) {
		if strings.HasPrefix(line, "m1 ") && strings.Contains(line, "f:serviceName") {
			t.Errorf("the name is still owned: %s", line)
		}
	}
	if err := apply(t, env, early, "m1", false, `{"serviceName": "target"}`); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `"m2"`) {
		t.Errorf("the first name again: %v, want a conflict with m2", err)
	}
}
