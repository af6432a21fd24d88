//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const directory = "knative-samples-directory"

const manifests = fixtures.Target + "---" + `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: it}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: it}
`

var alias = harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: directory, Name: "it"}

// noOrphans fails if the directory contains a Service, because its owner is deleted.
func noOrphans(t *testing.T, env *harness.Env) {
	t.Helper()
	services, err := env.Kube.CoreV1().Services(directory).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing the directory: %v", err)
	}
	for _, s := range services.Items {
		t.Errorf("alias %s of %s is left behind", s.Name, s.Annotations[samples.AliasOwnerAnnotationKey])
	}
}

func TestController_KilledBetweenAliasAndStatus_Converges(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	ns := env.Namespace(t)
	as := env.Apply(t, ns, manifests)[1]
	env.Await(t, as, harness.Ready)
	// The status records the namespace of the alias from now on, so that no write precedes the next alias.
	env.Patch(t, as, `{"spec": {"publish": null}}`)
	env.Await(t, as, harness.HasCondition("Published", "True", v1.ReasonNotRequested))
	held := env.Proxy(t, "controller").Hold(harness.Matching("update", "addressableservices/status").And(harness.InNamespace(ns)))
	env.Patch(t, as, `{"spec": {"publish": {"alias": "it"}}}`)
	held.Wait(t)
	before := env.Await(t, alias, harness.Exists)
	controller := env.Process(t, "controller")
	controller.Kill(t)
	held.Release()

	controller.Start(t)
	env.Await(t, as, harness.Ready)
	if after := env.Await(t, alias, harness.Exists); after.GetUID() != before.GetUID() {
		t.Errorf("the alias was recreated, want the one from before the crash to be known as ours")
	}
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	noOrphans(t, env)
}

func TestController_KilledBetweenUnpublishAndFinalizer_Converges(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	ns := env.Namespace(t)
	as := env.Apply(t, ns, manifests)[1]
	env.Await(t, as, harness.Ready)
	held := env.Proxy(t, "controller").Hold(harness.Matching("patch", "addressableservices").And(harness.InNamespace(ns)))
	env.Delete(t, as)
	held.Wait(t)
	env.Await(t, alias, harness.Deleted)
	env.Await(t, as, harness.Exists)
	controller := env.Process(t, "controller")
	controller.Kill(t)
	held.Release()

	controller.Start(t)
	env.Await(t, as, harness.Deleted)
	noOrphans(t, env)
}

func TestObject_DeletedRightAfterItsAliasWasCreated_LeavesNothing(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	ns := env.Namespace(t)
	// The cache of Services never learns of the alias, so only a live list finds it.
	resume := env.Proxy(t, "controller").PauseWatches(harness.Matching("watch", "services"))
	defer resume()
	as := env.Apply(t, ns, `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: chained}
spec:
  ref: {apiVersion: samples.knative.dev/v1, kind: AddressableService, name: absent}
  publish: {alias: it}
`)[0]
	env.Await(t, as, harness.HasCondition("Ready", "False", v1.ReasonTargetNotFound))
	giveAddress(t, env, ns, "absent")
	env.Await(t, as, harness.Ready)
	env.Await(t, alias, harness.Exists)
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	noOrphans(t, env)
}

// giveAddress makes an AddressableService of another class with an address in its
// status, which needs no Service.
func giveAddress(t *testing.T, env *harness.Env, namespace, name string) {
	t.Helper()
	ref := env.Apply(t, namespace, fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: %s
  annotations: {samples.knative.dev/addressableservice.class: other}
spec:
  ref: {apiVersion: v1, kind: Service, name: none}
`, name))[0]
	env.Patch(t, ref, `{"status": {"address": {"url": "http://given.example.com"}}}`, "status")
}

func TestAlias_DeletedWhileTheWatchIsDown_IsRecreated(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	ns := env.Namespace(t)
	as := env.Apply(t, ns, manifests)[1]
	env.Await(t, as, harness.Ready)
	before := env.Await(t, alias, harness.Exists)

	proxy := env.Proxy(t, "controller")
	env.ExpectErrors(t, ns) // of a request that is cut
	proxy.Cut()
	env.Delete(t, alias)
	env.Await(t, alias, harness.Deleted)
	proxy.Restore()

	after := env.Await(t, alias, harness.Exists)
	if after.GetUID() == before.GetUID() {
		t.Errorf("the alias is the one from before, so it was not deleted at all")
	}
	env.Await(t, as, harness.Ready)
}
