/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

const directory = "knative-samples-directory"

// alias is the Service of that name in the directory. Aliases are shared by all
// tests, so each takes the name of its namespace.
func alias(name string) harness.Ref {
	return harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: directory, Name: name}
}

// pointsTo is the condition of an ExternalName Service for the host.
func pointsTo(host string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		if got, _, _ := unstructured.NestedString(o.Object, "spec", "externalName"); got != host {
			return fmt.Errorf("it points to %q, not to %q", got, host)
		}
		return nil
	}
}

func host(service, namespace string) string {
	return strings.TrimPrefix(local(service, namespace), "http://")
}

func TestPublish_Object_CreatesTheAliasAndDeletesItFirst(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("target", onePort))
	as := env.Apply(t, ns, object("it", published("target", ns)))[0]
	env.Await(t, as, harness.Ready)
	env.Await(t, alias(ns), pointsTo(host("target", ns)))

	// While the object can be seen, so can its alias, or else it is being deleted.
	mark := env.Mark(t)
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	env.Await(t, alias(ns), harness.Deleted)
	var order []string
	for _, e := range mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller"))) {
		if e.Name == ns || e.Namespace == ns && e.Name == "it" {
			order = append(order, e.Verb+" "+e.Resource)
		}
	}
	if want, got := "delete services, patch addressableservices", strings.Join(order, ", "); got != want {
		t.Errorf("the controller wrote %q, want %q: alias first, finalizer then", got, want)
	}
}

func TestPublish_AddressOrSpecChanges_AliasFollows(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("one", onePort)+and+service("two", onePort))
	as := env.Apply(t, ns, object("it", published("one", ns)))[0]
	env.Await(t, as, harness.Ready)
	env.Await(t, alias(ns), pointsTo(host("one", ns)))

	env.Apply(t, ns, object("it", published("two", ns)))
	env.Await(t, alias(ns), pointsTo(host("two", ns)))

	// The alias is renamed, and then not wanted any more.
	env.Apply(t, ns, object("it", published("two", ns+"-new")))
	env.Await(t, alias(ns+"-new"), pointsTo(host("two", ns)))
	env.Await(t, alias(ns), harness.Deleted)
	env.Apply(t, ns, object("it", toService("two")))
	env.Await(t, alias(ns+"-new"), harness.Deleted)
	env.Await(t, as, harness.Ready, harness.HasCondition("Published", "True", v1.ReasonNotRequested))
}

func TestAlias_TargetIsReplaced_WaitingTenantDoesNotTakeIt(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns, other := env.Namespace(t), env.Namespace(t)
	target := env.Apply(t, ns, service("target", onePort))[0]
	as := env.Apply(t, ns, object("it", published("target", ns)))[0]
	env.Await(t, as, harness.Ready)
	env.Apply(t, other, service("target", onePort))
	waits := env.Apply(t, other, object("waits", published("target", ns)))[0]
	env.Await(t, waits, harness.HasCondition("Published", "False", v1.ReasonAliasTaken))

	env.Throughout(t, alias(ns), pointsTo(host("target", ns)), func() {
		env.Delete(t, target)
		env.Await(t, as, notReady(v1.ReasonTargetNotFound), harness.HasCondition("Published", "Unknown", v1.ReasonNoAddress))
		env.Apply(t, ns, service("target", onePort))
		env.Await(t, as, harness.Ready)
		env.Await(t, waits, harness.HasCondition("Published", "False", v1.ReasonAliasTaken))
	})

	// Once it is no longer requested, the waiting object may have it.
	env.Apply(t, ns, object("it", toService("target")))
	env.Await(t, alias(ns), pointsTo(host("target", other)))
	env.Await(t, waits, harness.Ready)
}

func TestAlias_NewNameIsTaken_FormerStaysUntilItIsFree(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("one", onePort)+and+service("two", onePort))
	refs := env.Apply(t, ns, object("one", published("one", ns))+and+object("two", published("two", ns+"-two")))
	for _, ref := range refs {
		env.Await(t, ref, harness.Ready)
	}
	env.Throughout(t, alias(ns), pointsTo(host("one", ns)), func() {
		env.Apply(t, ns, object("one", published("one", ns+"-two")))
		env.Await(t, refs[0], harness.HasCondition("Published", "False", v1.ReasonAliasTaken))
	})
	env.Delete(t, refs[1])
	env.Await(t, alias(ns+"-two"), pointsTo(host("one", ns)))
	env.Await(t, alias(ns), harness.Deleted)
	env.Await(t, refs[0], harness.Ready)
}

func TestPublish_OwnerDoesNotExist_ObjectAndAliasAreDeleted(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("target", onePort))
	as := env.Apply(t, ns, strings.Replace(object("it", published("target", ns)), "metadata:\n", `metadata:
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: none, uid: 00000000-0000-0000-0000-000000000000}]
`, 1))[0]
	env.Await(t, as, harness.Deleted)
	env.Await(t, alias(ns), harness.Deleted)
}

func TestPublish_AliasOfAnotherOwner_IsKept(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	foreign := env.Apply(t, directory, "apiVersion: v1\nkind: Service\nmetadata: {name: "+ns+"}\nspec: {type: ExternalName, externalName: mine.example.com}\n")[0]
	removeAtEnd(t, env, foreign)
	env.Apply(t, ns, service("target", onePort))

	var as harness.Ref
	env.Throughout(t, foreign, env.Unchanged(t, foreign), func() {
		as = env.Apply(t, ns, object("it", published("target", ns)))[0]
		env.Await(t, as, harness.HasCondition("Published", "False", v1.ReasonAliasTaken),
			harness.HasCondition("Ready", "False", v1.ReasonAliasTaken), hasURLs(local("target", ns)))
		env.Delete(t, as)
		env.Await(t, as, harness.Deleted)
	})

	// Once it is deleted, an object that waits gets the alias.
	as = env.Apply(t, ns, object("it", published("target", ns)))[0]
	env.Await(t, as, harness.HasCondition("Published", "False", v1.ReasonAliasTaken))
	env.Delete(t, foreign)
	env.Await(t, as, harness.Ready)
	env.Await(t, alias(ns), pointsTo(host("target", ns)))
}

func TestPublish_ManyRequestOneAliasAtOnce_OneOwnsIt(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	var manifests []string
	manifests = append(manifests, service("target", onePort))
	for i := range 8 {
		manifests = append(manifests, object(fmt.Sprintf("it-%d", i), published("target", ns)))
	}
	refs := env.Apply(t, ns, strings.Join(manifests, and))[1:]
	owners := 0
	for _, ref := range refs {
		o := env.Await(t, ref, func(o *unstructured.Unstructured) error {
			if harness.Ready(o) == nil {
				return nil
			}
			return harness.HasCondition("Published", "False", v1.ReasonAliasTaken)(o)
		})
		if harness.Ready(o) == nil {
			owners++
		}
	}
	if owners != 1 {
		t.Errorf("%d objects say that the alias is theirs, want 1", owners)
	}
}

func TestPublish_AliasOfAForciblyDeletedOwner_IsTakenOver(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("one", onePort)+and+service("two", onePort))
	as := env.Apply(t, ns, object("it", published("one", ns)))[0]
	env.Await(t, as, harness.Ready)
	before := env.Await(t, alias(ns), harness.Exists)

	// The alias of an object whose finalizer was removed while no controller ran.
	forged := `{"metadata": {"labels": {"samples.knative.dev/addressableservice-uid": "00000000-0000-0000-0000-000000000000"}}}`
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	env.Await(t, alias(ns), harness.Deleted)
	env.Apply(t, directory, fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata:
  name: %s
  annotations: {samples.knative.dev/addressableservice: %s/it}
  labels: {samples.knative.dev/addressableservice-uid: %s}
spec: {type: ExternalName, externalName: old.example.com}
`, ns, ns, before.GetLabels()["samples.knative.dev/addressableservice-uid"]))
	env.Apply(t, ns, object("it", published("two", ns)))
	env.Await(t, as, harness.Ready)
	env.Await(t, alias(ns), pointsTo(host("two", ns)))
	env.Patch(t, alias(ns), forged)
	env.Await(t, alias(ns), func(o *unstructured.Unstructured) error {
		if o == nil || o.GetLabels()["samples.knative.dev/addressableservice-uid"] == "00000000-0000-0000-0000-000000000000" {
			return errors.New("the label of its owner was not corrected")
		}
		return nil
	})
	env.Delete(t, as)
	env.Await(t, alias(ns), harness.Deleted)
}
