//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const (
	// mostRequests is the maximum number of requests per second that the operator may send in the steady state, leases aside, for what one tenant has
	// created, and for all of them together outside of their namespaces.
	mostRequests = 5
	// window is the time for which requests are counted.
	window = 10 * time.Second
	// settling is the time in which the back-off of the last object grows to its limit.
	settling = 3 * time.Minute
)

// idleAttacks leave objects behind that can never become Ready.
var idleAttacks = []attack{
	{name: "ReferencesInACircle", do: func(t *testing.T, w *tenant) {
		for i := range 10 {
			w.apply(t, service(fmt.Sprintf("it-%d", i), fmt.Sprintf("{apiVersion: samples.knative.dev/v1, kind: AddressableService, name: it-%d}", (i+1)%10)))
		}
	}},
	{name: "ReferencesInALongChain", do: func(t *testing.T, w *tenant) {
		w.apply(t, target)
		for i := range 40 {
			w.apply(t, service(fmt.Sprintf("it-%d", i), fmt.Sprintf("{apiVersion: samples.knative.dev/v1, kind: AddressableService, name: it-%d}", i+1)))
		}
		w.apply(t, service("it-40", "{apiVersion: v1, kind: Service, name: target}"))
	}},
	{name: "ReferencesToInventedKinds", do: func(t *testing.T, w *tenant) {
		for i := range 100 {
			w.apply(t, service(fmt.Sprintf("it-%d", i), fmt.Sprintf("{apiVersion: group%d.example.com/v1, kind: Invented, name: none}", i)))
		}
	}},
	{name: "BindingsToInventedKinds", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		w.apply(t, addressed)
		for i := range 100 {
			w.apply(t, bind(fmt.Sprintf("it-%d", i), "EVIL", fmt.Sprintf("{apiVersion: group%d.example.com/v1, kind: Invented, name: none}", i)))
		}
	}},
	{name: "ReferencesToAKindThatTheOperatorMayNotList", do: func(t *testing.T, w *tenant) {
		w.Define(t, crdOf("forbiddentargets", "ForbiddenTarget"))
		for i := range 100 {
			w.apply(t, service(fmt.Sprintf("it-%d", i), "{apiVersion: tenants.example.com/v1, kind: ForbiddenTarget, name: none}"))
		}
	}},
	{name: "BindingsToAKindThatTheOperatorMayNotList", do: func(t *testing.T, w *tenant) {
		w.Define(t, crdOf("forbiddensubjects", "ForbiddenSubject"))
		w.optIn(t)
		w.apply(t, addressed)
		for i := range 100 {
			w.apply(t, bind(fmt.Sprintf("it-%d", i), "EVIL", "{apiVersion: tenants.example.com/v1, kind: ForbiddenSubject, name: none}"))
		}
	}},
	{name: "ManyObjectsWithOneAlias", do: func(t *testing.T, w *tenant) {
		w.apply(t, target)
		for i := range 50 {
			w.apply(t, service(fmt.Sprintf("it-%d", i), "{apiVersion: v1, kind: Service, name: target}", "publish: {alias: shared-"+w.ns+"}"))
		}
	}},
	{name: "BindingsThatContendForAVariable", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		w.apply(t, addressed+"---"+service("other", "{apiVersion: v1, kind: Service, name: target}", "path: /other")+"---"+fmt.Sprintf(plainDeployment, "", ""))
		w.apply(t, bind("first", "EVIL", toWork))
		for i := range 20 {
			w.apply(t, strings.Replace(bind(fmt.Sprintf("it-%d", i), "EVIL", toWork), "{name: address}", "{name: other}", 1))
		}
	}},
	{name: "PodsBeyondAQuota", do: func(t *testing.T, w *tenant) {
		w.Apply(t, w.ns, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {pods: 1}}\n")
		for i := range 100 {
			w.apply(t, deployment(fmt.Sprintf("it-%d", i)))
		}
	}},
	{name: "PodsThatPodSecurityRejects", do: func(t *testing.T, w *tenant) {
		w.ExpectErrors(t, "violates PodSecurity")
		w.Patch(t, namespaceRef(w.ns), `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
		for i := range 100 {
			w.apply(t, deployment(fmt.Sprintf("it-%d", i)))
		}
	}},
	// The mark of a binding is an annotation, and all annotations of an object together have a limit.
	{name: "SubjectsWithoutRoomForTheMark", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		w.apply(t, addressed+"---"+bind("it", "EVIL", "{apiVersion: apps/v1, kind: Deployment, selector: {}}"))
		w.ExpectErrors(t, "metadata.annotations: Too long")
		const limit = 256 << 10
		for i := range 100 {
			annotations := fmt.Sprintf("annotations: {example.com/filler: %q}", strings.Repeat("x", limit-len("example.com/filler")))
			w.apply(t, strings.ReplaceAll(fmt.Sprintf(plainDeployment, annotations, ""), "work", fmt.Sprintf("work-%d", i)))
		}
	}},
	{name: "ObjectsWhoseDeletionHangs", do: func(t *testing.T, w *tenant) {
		w.apply(t, target)
		for i := range 20 {
			as := w.apply(t, service(fmt.Sprintf("it-%d", i), "{apiVersion: v1, kind: Service, name: target}"))[0]
			w.as.Patch(t, as, `{"metadata": {"finalizers": ["example.com/hold", "samples.knative.dev/addressableservice"]}}`)
			w.as.Delete(t, as)
			t.Cleanup(func() { w.release(t, as) })
		}
	}},
}

func deployment(name string) string {
	return fmt.Sprintf("apiVersion: samples.knative.dev/v1alpha1\nkind: SimpleDeployment\nmetadata: {name: %s}\nspec: {image: main, replicas: 3}\n", name)
}

// crdOf is the CRD of a kind that no Role lets the operator list.
func crdOf(plural, kind string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.tenants.example.com}
spec:
  group: tenants.example.com
  names: {plural: %[1]s, kind: %[2]s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, plural, kind)
}

// TestTenant_DoingNothing_CostsFewRequests creates everything that can never become Ready, and then counts the operator's requests to the API server
// while nothing changes.
func TestTenant_DoingNothing_CostsFewRequests(t *testing.T) {
	for name, options := range map[string][]harness.Option{"WithWebhook": nil, "WithoutWebhook": {harness.WithoutWebhooks("webhook")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &cluster{Env: harness.Own(t, options...)}
			for _, a := range idleAttacks {
				a.do(t, c.newTenant(t))
			}
			harness.EventuallyWithin(t, settling, fmt.Sprintf("at most %d requests per second", mostRequests), func(ctx context.Context) error {
				mark := c.Mark(t)
				timer := time.NewTimer(window)
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
				sent := mark.Entries(t, func(e harness.AuditEntry) bool {
					return strings.HasPrefix(e.User, c.User("")) && e.Resource != "leases"
				})
				most, byNamespace := int(mostRequests*window.Seconds()), map[string]int{}
				for _, e := range sent {
					byNamespace[e.Namespace]++
				}
				for namespace, n := range byNamespace {
					if n > most {
						return fmt.Errorf("%d requests in %v in namespace %q, want at most %d:%s", n, window, namespace, most, summary(sent))
					}
				}
				t.Logf("%d requests in %v%s", len(sent), window, summary(sent))
				return nil
			})
		})
	}
}

// summary lists requests by namespace, since each attack has its own.
func summary(entries []harness.AuditEntry) string {
	counts := map[string]int{}
	for _, e := range entries {
		counts[fmt.Sprintf("%s %s/%s %d in %q", e.Verb, e.Resource, e.Subresource, e.Code, e.Namespace)]++
	}
	var text strings.Builder
	for _, key := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	}) {
		fmt.Fprintf(&text, "\n%6d %s", counts[key], key)
	}
	return text.String()
}
