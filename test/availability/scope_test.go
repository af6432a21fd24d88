//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// clusterWide lists the cluster-scoped resources that an installation for one namespace reads; kustomize/overlays/single-namespace grants it.
var clusterWide = map[string][]string{
	"controller": {"customresourcedefinitions", "mutatingwebhookconfigurations", "namespaces"},
	"webhook":    {"customresourcedefinitions", "mutatingwebhookconfigurations", "namespaces", "validatingwebhookconfigurations"},
}

func TestScope_SingleNamespace_LeavesOthersAlone(t *testing.T) {
	t.Parallel()
	const watched = metav1.NamespaceDefault
	options := []harness.Option{harness.WithReplicas("controller", 1), harness.WithReplicas("webhook", 1)}
	for name := range clusterWide {
		options = append(options, harness.Without(name), harness.WithEnv(name, "WATCH_NAMESPACE", watched))
	}
	env := harness.Own(t, options...)
	mark := env.Mark(t)
	env.Process(t, "webhook").Start(t)
	env.Process(t, "controller").Start(t)
	env.SetConfig(t, "config-addressable", map[string]string{"allow-cross-namespace-references": "true"})

	// Without its class, a controller ignores an object.
	env.AwaitAdmission(t, watched, subject, func(object *unstructured.Unstructured) error {
		if object.GetAnnotations()[samples.ClassAnnotationKey] == "" {
			return errors.New("it has no class")
		}
		return nil
	})
	elsewhere := env.Namespace(t)
	outside := env.Apply(t, elsewhere, fixtures.Target+"---"+subject)[1]
	env.Throughout(t, outside, untouched, func() {
		inside := env.Apply(t, watched, fixtures.Target+"---"+subject)[1]
		env.Await(t, inside, harness.Ready)
		// Another namespace's objects are out of reach by reference, too.
		across := env.Apply(t, watched, strings.NewReplacer("name: subject", "name: across", "name: target", "name: target, namespace: "+elsewhere).Replace(subject))[0]
		env.Await(t, across, harness.HasCondition("Ready", "False", v1.ReasonCrossNamespaceDenied))
		published := env.Apply(t, watched, strings.Replace(subject, "name: subject", "name: published", 1)+"  publish: {alias: published}\n")[0]
		env.Await(t, published, harness.HasCondition("Published", "False", v1.ReasonDirectoryNotFound))
		// A kind that is known only at run time is also watched in one namespace.
		duck := env.Apply(t, watched, strings.NewReplacer("name: subject", "name: duck", "apiVersion: v1, kind: Service", "apiVersion: samples.knative.dev/v1, kind: AddressableService", "name: target", "name: subject").Replace(subject))[0]
		env.Await(t, duck, harness.Ready)
		for _, ref := range []harness.Ref{published, across, duck, inside} {
			env.Delete(t, ref)
			env.Await(t, ref, harness.Deleted)
		}
	})
	// A watch is in the log once it has ended.
	for name := range clusterWide {
		env.Process(t, name).Stop(t)
	}
	for name, want := range clusterWide {
		read := map[string]bool{}
		for _, e := range mark.Entries(t, harness.ByUser(env.User(name))) {
			switch {
			case e.Resource == "":
			case e.Namespace == "" || e.Resource == "namespaces":
				read[e.Resource] = true
			case e.Namespace != watched && e.Namespace != env.SystemNamespace:
				t.Errorf("the %s reaches into namespace %s: %+v", name, e.Namespace, e)
			}
		}
		if got := slices.Sorted(maps.Keys(read)); !slices.Equal(got, want) {
			t.Errorf("the %s reads %q of what is in no namespace, want %q", name, got, want)
		}
	}
}

// untouched is the condition of an object without a status.
func untouched(o *unstructured.Unstructured) error {
	if status, found, _ := unstructured.NestedMap(o.Object, "status"); found && len(status) > 0 {
		return errors.New("it has a status")
	}
	return nil
}
