//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// request is a request that a reconciliation sends.
type request struct {
	name  string
	match func(*scene) harness.Match
	// provoke makes the controller send it.
	provoke func(*testing.T, *scene)
	// right waits for the state that the controller is to reach.
	right func(*testing.T, *scene)
	// final says that the object is being deleted, so that its end is right.
	final bool
	// queued says that client-go sends it when it can: it waits behind the retries of others, which take minutes.
	queued bool
	// truthful are failures that are no failures of this request: the API server answers so only if there is nothing to do.
	truthful string
}

func inScene(verb, resource string) func(*scene) harness.Match {
	return func(s *scene) harness.Match { return harness.Matching(verb, resource).And(harness.InNamespace(s.ns)) }
}

func ofAlias(verb, prefix string) func(*scene) harness.Match {
	return func(s *scene) harness.Match {
		return harness.Matching(verb, "services").And(func(r harness.Request) bool { return r.Name == prefix+s.alias })
	}
}

func patch(ref func(*scene) harness.Ref, change string) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		t.Helper()
		s.Patch(t, ref(s), strings.ReplaceAll(change, "ALIAS", s.alias))
	}
}

func remove(ref func(*scene) harness.Ref) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		t.Helper()
		s.Delete(t, ref(s))
	}
}

func reaches(ref func(*scene) harness.Ref, conditions ...harness.Condition) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		t.Helper()
		s.Await(t, ref(s), conditions...)
	}
}

func theService(s *scene) harness.Ref    { return s.as }
func theDeployment(s *scene) harness.Ref { return s.deployment }
func theBinding(s *scene) harness.Ref    { return s.binding }
func thePods(s *scene) harness.Ref       { return s.pods }
func theAlias(s *scene) harness.Ref      { return s.aliasRef("a-") }
func theNewAlias(s *scene) harness.Ref   { return s.aliasRef("b-") }

var requests = []request{{
	name:  "AddressableService_UpdateStatus",
	match: inScene("update", "addressableservices/status"), provoke: patch(theService, `{"spec": {"path": "/new"}}`),
	right: reaches(theService, harness.Ready),
}, {
	name:  "AddressableService_CreateAlias",
	match: ofAlias("create", "b-"), provoke: patch(theService, `{"spec": {"publish": {"alias": "b-ALIAS"}}}`),
	right: func(t *testing.T, s *scene) {
		reaches(theService, harness.Ready)(t, s)
		reaches(theNewAlias, harness.Exists)(t, s)
		reaches(theAlias, harness.Deleted)(t, s)
	},
}, {
	name:  "AddressableService_DeleteAlias",
	match: ofAlias("delete", "a-"), provoke: patch(theService, `{"spec": {"publish": {"alias": "b-ALIAS"}}}`),
	right: func(t *testing.T, s *scene) {
		reaches(theService, harness.Ready)(t, s)
		reaches(theAlias, harness.Deleted)(t, s)
	},
	truthful: "NotFound",
}, {
	name:  "AddressableService_UpdateAlias",
	match: ofAlias("update", "a-"), provoke: patch(theAlias, `{"spec": {"externalName": "elsewhere.example.com"}}`),
	right: reaches(theAlias, func(o *unstructured.Unstructured) error {
		if name, _, _ := unstructured.NestedString(o.Object, "spec", "externalName"); !strings.HasPrefix(name, "target.") {
			return fmt.Errorf("it points to %s", name)
		}
		return nil
	}),
}, {
	name:  "AddressableService_CreateEvent",
	match: inScene("create", "events"), provoke: patch(theService, `{"spec": {"ref": {"name": "none"}}}`),
	right: func(t *testing.T, s *scene) {
		reaches(theService, harness.HasCondition("TargetResolved", "False", ""))(t, s)
		patch(theService, `{"spec": {"ref": {"name": "target"}}}`)(t, s)
		reaches(theService, harness.Ready)(t, s)
	},
	final: true, queued: true,
}, {
	name:  "AddressableService_DeleteAliasAtTheEnd",
	match: ofAlias("delete", "a-"), provoke: remove(theService), right: reaches(theService, harness.Deleted), final: true, truthful: "NotFound",
}, {
	name:  "AddressableService_RemoveFinalizer",
	match: inScene("patch", "addressableservices"), provoke: remove(theService), right: reaches(theService, harness.Deleted), final: true,
}, {
	name:  "AddressBinding_PatchSubject",
	match: inScene("patch", "deployments"), provoke: patch(theService, `{"spec": {"path": "/new"}}`),
	right: reaches(theDeployment, bound("/new")),
}, {
	name:  "AddressBinding_UpdateStatus",
	match: inScene("update", "addressbindings/status"), provoke: patch(theService, `{"spec": {"path": "/new"}}`),
	right: func(t *testing.T, s *scene) {
		reaches(theDeployment, bound("/new"))(t, s)
		reaches(theBinding, harness.HasCondition("SubjectsBound", "True", ""))(t, s)
	},
}, {
	name:  "AddressBinding_PatchSubjectAtTheEnd",
	match: inScene("patch", "deployments"), provoke: remove(theBinding), right: reaches(theBinding, harness.Deleted), final: true,
}, {
	name:  "AddressBinding_ListSubjectsAtTheEnd",
	match: inScene("list", "deployments"), provoke: remove(theBinding), right: reaches(theBinding, harness.Deleted), final: true,
}, {
	name:  "AddressBinding_RemoveFinalizer",
	match: inScene("patch", "addressbindings"), provoke: remove(theBinding), right: reaches(theBinding, harness.Deleted), final: true,
}, {
	name:  "SimpleDeployment_CreatePod",
	match: inScene("create", "pods"), provoke: patch(thePods, `{"spec": {"replicas": 3}}`), right: reaches(thePods, harness.Ready),
}, {
	name:  "SimpleDeployment_DeletePod",
	match: inScene("delete", "pods"), provoke: patch(thePods, `{"spec": {"replicas": 1}}`), right: reaches(thePods, harness.Ready), truthful: "NotFound",
}, {
	name:  "SimpleDeployment_EveryRequestForPods",
	match: inScene("*", "pods"), provoke: patch(thePods, `{"spec": {"image": "other"}}`), right: reaches(thePods, harness.Ready), truthful: "NotFound",
}, {
	name:  "SimpleDeployment_UpdateStatus",
	match: inScene("update", "simpledeployments/status"), provoke: patch(thePods, `{"spec": {"replicas": 3}}`), right: reaches(thePods, harness.Ready),
}}
