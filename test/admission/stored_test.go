//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// A stored object may break a later rule. It must still be possible to change something else of
// it, to write its status, and to delete it, at every version.
func TestValidation_StoredObjectBreaksARule_CanBeUpdatedAndDeleted(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions())
	stopAdmission(t, env)
	ns := env.Namespace(t)
	ours := all(classed(samples.ClassMallard), set("metadata.finalizers", []any{samples.FinalizerName}))
	for _, version := range versions {
		create(t, env, object(ns, ours, named("cycle-"+version), toItself("cycle-"+version)))
		create(t, env, objectAt(version, ns, named("oddity-"+version), classed("Not A Class")))
		create(t, env, objectAt(version, ns, named("orphan-"+version)))
	}
	create(t, env, objectAt("v1alpha1", ns, named("smuggled"), set("metadata.annotations", map[string]any{fixtures.Stash: `{"f":1,"c":{"spec":{"e":{"v1beta1/port":{"d":99999}}}}}`})))
	startAdmission(t, env)

	// A port that no schema has seen, because it was in a stash.
	for _, version := range versions {
		smuggled := harness.Ref{Resource: at(version), Namespace: ns, Name: "smuggled"}
		checkPatch(t, env, smuggled, `{"metadata": {"labels": {"touched": "`+version+`"}}}`)
		if version != hub {
			checkPatch(t, env, smuggled, edits[version], "expected 1 <= 99999 <= 65535: spec.ports[0].port")
		}
	}
	// The schema accepts an invalid value that is left as it is.
	checkPatch(t, env, harness.Ref{Resource: at(hub), Namespace: ns, Name: "smuggled"}, edits[hub])
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			liveCycle(t, env, harness.Ref{Resource: at(version), Namespace: ns, Name: "cycle-" + version})
			liveOddity(t, env, harness.Ref{Resource: at(version), Namespace: ns, Name: "oddity-" + version})
			liveOrphan(t, env, harness.Ref{Resource: at(version), Namespace: ns, Name: "orphan-" + version})
		})
	}
}

// edits change something of the spec at each version that breaks no rule.
var edits = map[string]string{
	"v1alpha1": `{"spec": {"serviceName": "other"}}`, "v1beta1": `{"spec": {"path": "/new"}}`, hub: `{"spec": {"path": "/new"}}`,
}

// liveCycle is the life of an object that refers to itself.
func liveCycle(t *testing.T, env *harness.Env, cycle harness.Ref) {
	t.Helper()
	env.Patch(t, cycle, `{"metadata": {"labels": {"touched": "true"}}}`)
	env.Await(t, cycle, harness.HasCondition("TargetResolved", "False", "ReferenceCycle"))
	if cycle.Resource.Version == "v1alpha1" {
		// There only a Service can be named, and so no cycle.
		checkPatch(t, env, cycle, `{"spec": {"serviceName": ""}}`)
		checkPatch(t, env, cycle, `{"spec": {"serviceName": "other"}}`)
	} else {
		checkPatch(t, env, cycle, `{"spec": {"path": "/new"}}`, "cannot refer to itself", "spec.ref.name")
		checkPatch(t, env, cycle, `{"spec": {"ref": {"name": "other"}}}`)
		checkPatch(t, env, cycle, `{"spec": {"ref": {"name": "`+cycle.Name+`"}}}`, "cannot refer to itself", "spec.ref.name")
	}
	env.Delete(t, cycle)
	env.Await(t, cycle, harness.Deleted)
}

// liveOddity is the life of an object with an invalid class.
func liveOddity(t *testing.T, env *harness.Env, oddity harness.Ref) {
	t.Helper()
	checkPatch(t, env, oddity, `{"metadata": {"labels": {"touched": "true"}}}`)
	checkPatch(t, env, oddity, edits[oddity.Resource.Version])
	checkPatch(t, env, oddity, annotation(samples.ClassMallard), "the class cannot be changed", classPath)
	env.Delete(t, oddity)
	env.Await(t, oddity, harness.Deleted)
}

// liveOrphan is the life of an object that never had a class: no controller reconciles it until it gets one.
func liveOrphan(t *testing.T, env *harness.Env, orphan harness.Ref) {
	t.Helper()
	checkPatch(t, env, orphan, edits[orphan.Resource.Version])
	if o := env.Await(t, orphan, harness.Exists); classOf(o) != "" || len(o.GetFinalizers()) != 0 {
		t.Errorf("an update has given it the class %q and the finalizers %q", classOf(o), o.GetFinalizers())
	}
	checkPatch(t, env, orphan, annotation("Not A Class"), "invalid class", classPath)
	checkPatch(t, env, orphan, annotation(samples.ClassMallard))
	env.Await(t, orphan, harness.HasCondition("TargetResolved", "False", ""), hasFinalizers(samples.FinalizerName))
	env.Delete(t, orphan)
	env.Await(t, orphan, harness.Deleted)
}

func annotation(class string) string {
	return `{"metadata": {"annotations": {"` + samples.ClassAnnotationKey + `": "` + class + `"}}}`
}

// checkPatch merges a patch into an object, which is rejected in these words, or accepted without words.
func checkPatch(t *testing.T, env *harness.Env, ref harness.Ref, patch string, says ...string) {
	t.Helper()
	_, err := env.Dynamic.Resource(ref.Resource).Namespace(ref.Namespace).Patch(t.Context(), ref.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
	checkMessage(t, err, says)
}
