/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// kind is a kind of the test's own. CRDs have no namespace, so each test makes one with its own group.
type kind struct {
	group, kind, plural string
	addressable         bool
}

// newKind names a kind after the test's namespace. Its plural is irregular on
// purpose: it cannot be guessed from the kind.
func newKind(namespace string) kind {
	return kind{group: namespace + ".example.com", kind: "Radius", plural: "radii", addressable: true}
}

func (k kind) apiVersion() string { return k.group + "/v1" }

// crd is the manifest of its CRD. Its status takes anything, so that a test can write what is no address.
func (k kind) crd() string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[3]s.%[1]s
  labels: {duck.knative.dev/addressable: "%[4]t"}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[2]s, plural: %[3]s}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          x-kubernetes-preserve-unknown-fields: true
`, k.group, k.kind, k.plural, k.addressable)
}

// role grants reading the kind to the controllers that resolve addresses.
func (k kind) role() string {
	return fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: %[1]s
  labels: {duck.knative.dev/addressable: "true"}
rules:
  - apiGroups: [%[1]s]
    resources: [%[2]s]
    verbs: [get, list, watch]
`, k.group, k.plural)
}

// named is an object of the kind with a status in YAML's flow style.
func (k kind) named(name, status string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\nstatus: %s\n", k.apiVersion(), k.kind, name, status)
}

// install makes the kind and the permission to read it, and removes both at the end.
func (k kind) install(t *testing.T, env *harness.Env) harness.Ref {
	t.Helper()
	refs := env.Apply(t, "", k.crd()+and+k.role())
	removeAtEnd(t, env, refs...)
	env.Await(t, refs[0], harness.HasCondition("Established", "True", ""))
	return refs[0]
}

func TestAddressableService_TargetOfACustomKind_ResolvesAndIsFollowed(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	k := newKind(ns)
	k.install(t, env)
	env.Apply(t, ns, k.named("it", "{address: {url: 'https://first.example.com/base'}}"))
	as := env.Apply(t, ns, object("it", to(k.apiVersion(), k.kind, "it")+"\npath: /more"))[0]
	env.Await(t, as, harness.Ready, hasURLs("https://first.example.com/base/more"))

	env.Apply(t, ns, k.named("it", "{address: {url: 'http://second.example.com:8080'}}"))
	env.Await(t, as, harness.Ready, hasURLs("http://second.example.com:8080/more"))

	env.Apply(t, ns, k.named("it", "{}"))
	env.Await(t, as, notReady(v1.ReasonTargetHasNoAddress))

	env.Apply(t, ns, k.named("it", "{addresses: [{name: a, url: 'http://a.example.com'}, {name: b, url: 'http://b.example.com'}]}"))
	env.Apply(t, ns, object("it", to(k.apiVersion(), k.kind, "it")+"\nports: [{name: b}, {name: c, port: 9000}]"))
	env.Await(t, as, harness.Ready, hasURLs("http://b.example.com", "http://a.example.com:9000"))
}

func TestAddressableService_KindInstalledLater_ResolvesWithoutARestart(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	k := newKind(ns)
	as := env.Apply(t, ns, object("it", to(k.apiVersion(), k.kind, "it")))[0]
	env.Await(t, as, notReady(v1.ReasonTargetKindNotFound), says("does not serve kind Radius"))

	crd := k.install(t, env)
	env.Await(t, as, notReady(v1.ReasonTargetNotFound))
	env.Apply(t, ns, k.named("it", "{address: {url: 'http://it.example.com'}}"))
	env.Await(t, as, harness.Ready, hasURLs("http://it.example.com"))

	// And back: the kind is deleted with all its objects, and recreated.
	env.Delete(t, crd)
	env.Await(t, crd, harness.Deleted)
	env.Await(t, as, notReady(v1.ReasonTargetNotFound))
	env.Apply(t, "", k.crd())
	env.Await(t, crd, harness.HasCondition("Established", "True", ""))
	env.Apply(t, ns, k.named("it", "{address: {url: 'http://again.example.com'}}"))
	env.Await(t, as, harness.Ready, hasURLs("http://again.example.com"))
}

func TestAddressableService_MalformedTarget_AffectsOnlyItsReference(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	k := newKind(ns)
	k.install(t, env)
	env.Apply(t, ns, k.named("bad", "{address: 'no address but a string'}")+and+
		k.named("worse", "{address: {url: '://%zz'}}")+and+
		k.named("good", "{address: {url: 'http://good.example.com'}}"))
	refs := env.Apply(t, ns, object("bad", to(k.apiVersion(), k.kind, "bad"))+and+
		object("worse", to(k.apiVersion(), k.kind, "worse"))+and+
		object("good", to(k.apiVersion(), k.kind, "good")))
	env.Await(t, refs[0], notReady(v1.ReasonTargetNotAddressable))
	env.Await(t, refs[1], notReady(v1.ReasonTargetNotAddressable))
	env.Await(t, refs[2], harness.Ready, hasURLs("http://good.example.com"))

	env.Apply(t, ns, k.named("bad", "{address: {url: 'http://fixed.example.com'}}"))
	env.Await(t, refs[0], harness.Ready, hasURLs("http://fixed.example.com"))
}
