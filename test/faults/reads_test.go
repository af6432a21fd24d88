//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// TestFailedRead_AfterARestart_IsHarmless restarts the controller while it can neither discover kinds nor list and watch the objects that
// bindings and references are about, in each way in which a request fails.
func TestFailedRead_AfterARestart_IsHarmless(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	proxy, controller := env.Proxy(t, "controller"), env.Process(t, "controller")
	env.ExpectErrors(t, "Failed to watch") // of requests that are cut
	env.Define(t, foreign)
	s := newScene(t, env)
	s.working(t)
	other := env.Apply(t, s.ns, `
apiVersion: faults.example.com/v1
kind: Foreign
metadata: {name: foreign}
status: {address: {url: "http://foreign.example.com"}}
---
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: other}
spec:
  ref: {apiVersion: faults.example.com/v1, kind: Foreign, name: foreign}
`)[1]
	env.Await(t, other, harness.Ready)
	reads := harness.Match(func(r harness.Request) bool {
		return strings.HasPrefix(r.Path, "/api") && r.Resource == "" || (r.Verb == "list" || r.Verb == "watch") &&
			(r.Resource == "deployments" || r.Resource == "foreigns")
	})
	for way, fail := range failures {
		t.Run(way, func(t *testing.T) {
			controller.Stop(t)
			sent, undo := proxy.Count(reads), fail(proxy, reads)
			controller.Start(t)
			harness.Eventually(t, "the controller retries", func(context.Context) error {
				if n := sent(); n < 4 {
					return fmt.Errorf("it has sent %d requests", n)
				}
				return nil
			})
			if err := s.works(t.Context()); err != nil {
				t.Errorf("while reads failed, %v", err)
			}
			// An API server that answers NotFound to the list and to the discovery does not serve the kind, so that no object of it has an address.
			if err := hasAddress(env.Await(t, other, harness.Exists)); err != nil && way != "NotFound" {
				t.Errorf("while reads failed, %v", err)
			}
			undo()
			// Only what is read again brings the new address to the Deployment.
			path := "/" + strings.ToLower(way)
			env.Patch(t, s.as, fmt.Sprintf(`{"spec": {"path": %q}}`, path))
			env.Await(t, s.deployment, bound(path))
			env.Await(t, other, harness.Ready)
		})
	}
}

// TestWatch_Expires_CostsNoError ends all watches of the operator's informers and answers those that follow as an API server that no longer has the
// version from which they continue.
func TestWatch_Expires_CostsNoError(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"), harness.WithProxy("webhook"))
	s := newScene(t, env)
	s.working(t)
	watches := harness.Matching("watch", "*")
	for _, name := range []string{"controller", "webhook"} {
		proxy := env.Proxy(t, name)
		running, sent := proxy.Watches(watches), proxy.Count(watches)
		undo := proxy.Fail(watches, http.StatusGone)
		proxy.EndWatches(watches)
		harness.Eventually(t, "the watches of the "+name+" expire", func(context.Context) error {
			if n := sent(); running == 0 || n < 2*running {
				return fmt.Errorf("there were %d watches, and %d have expired", running, n)
			}
			return nil
		})
		undo()
		harness.Eventually(t, "the informers of the "+name+" watch again", func(context.Context) error {
			if n := proxy.Watches(watches); n < running {
				return fmt.Errorf("there are %d watches, and there were %d", n, running)
			}
			return nil
		})
	}
	env.Patch(t, s.as, `{"spec": {"path": "/expired"}}`)
	env.Await(t, s.deployment, bound("/expired"))
	for _, name := range []string{"controller", "webhook"} {
		for line := range strings.Lines(env.Process(t, name).Log(t)) {
			// The end of the test does not report errors of requests that the harness has fail.
			if processes.IsError(line) && strings.Contains(line, "the harness has this request fail") {
				t.Errorf("the %s logs an error: %s", name, line)
			}
		}
	}
}

// hasAddress reports whether an object still has the address that it had at first.
func hasAddress(o *unstructured.Unstructured) error {
	if url, _, _ := unstructured.NestedString(o.Object, "status", "address", "url"); url != "http://foreign.example.com" {
		return fmt.Errorf("the address of %s is %q", o.GetName(), url)
	}
	return nil
}

// foreign is a kind that has addresses, with the Role that lets the operator read it.
const foreign = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foreigns.faults.example.com
  labels: {duck.knative.dev/addressable: "true"}
spec:
  group: faults.example.com
  names: {plural: foreigns, kind: Foreign}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: foreigns
  labels: {duck.knative.dev/addressable: "true"}
rules:
- {apiGroups: [faults.example.com], resources: [foreigns], verbs: [get, list, watch]}
`
