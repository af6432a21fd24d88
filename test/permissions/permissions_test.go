/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

var accounts = []string{"controller", "webhook"}

const (
	directory = "knative-samples-directory"
	target    = `
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}]
---
`
	published = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: it}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: it}
`
	deployment = `
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: it}
spec: {image: one}
`
)

// TestEveryGrantIsUsedAndNoneIsMissing makes the operator do all that it ever does
// and compares. What the other suites have it do is a part of that.
func TestEveryGrantIsUsedAndNoneIsMissing(t *testing.T) {
	options := []harness.Option{harness.WithProxy("controller")}
	for _, name := range accounts {
		// client-go lists only when an API server cannot stream what there is, as
		// an older one. The permission is for that, so it is tried that way.
		options = append(options, harness.Without(name), harness.WithEnv(name, "KUBE_FEATURE_WatchListClient", "false"))
	}
	env := harness.Own(t, options...)
	mark := env.Mark(t)
	for _, name := range []string{"webhook", "controller"} {
		env.Process(t, name).Start(t)
	}
	live(t, env)
	// A watch is in the log once it has ended, and leases are given up at the end.
	for _, name := range accounts {
		env.Process(t, name).Stop(t)
	}

	entries := mark.Entries(t)
	for _, account := range accounts {
		for _, e := range entries {
			if e.User == env.User(account) && (e.Code == http.StatusForbidden || e.Code == http.StatusUnauthorized) {
				t.Errorf("%s was refused: %s %s/%s %s/%s", account, e.Verb, e.Group, e.Resource, e.Namespace, e.Name)
			}
		}
	}
	for _, g := range granted(t) {
		used := slices.ContainsFunc(entries, func(e harness.AuditEntry) bool {
			return e.User == env.User(g.account) && g.usedBy(e)
		})
		if !used {
			t.Errorf("granted but never used: %s", g)
		}
	}
}

// live is the operator's life: each thing for which it has a permission happens.
func live(t *testing.T, env *harness.Env) {
	t.Helper()
	address(t, env)
	deploy(t, env)
	bind(t, env)
}

// bind is the life of AddressBindings, one for each kind of subject that comes with a permission.
func bind(t *testing.T, env *harness.Env) {
	t.Helper()
	ns := env.Namespace(t)
	env.Apply(t, ns, target+strings.Replace(published, "\n  publish: {alias: it}", "", 1))
	const template = "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}"
	var refs []harness.Ref
	for kind, spec := range map[string]string{
		"apps/v1 Deployment":                            "selector: {matchLabels: {a: b}}, " + template,
		"apps/v1 StatefulSet":                           "serviceName: s, selector: {matchLabels: {a: b}}, " + template,
		"apps/v1 DaemonSet":                             "selector: {matchLabels: {a: b}}, " + template,
		"batch/v1 CronJob":                              "schedule: '@yearly', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}",
		"samples.knative.dev/v1alpha1 SimpleDeployment": "image: one, replicas: 0",
	} {
		apiVersion, kind, _ := strings.Cut(kind, " ")
		refs = append(refs, env.Apply(t, ns, fmt.Sprintf(`
apiVersion: %[1]s
kind: %[2]s
metadata: {name: it, labels: {bindings.knative.dev/include: "true"}}
spec: {%[3]s}
---
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: %[4]s}
spec: {subject: {apiVersion: %[1]s, kind: %[2]s, name: it}, address: {name: it}}
`, apiVersion, kind, spec, strings.ToLower(kind)))[1])
	}
	for _, ref := range refs {
		env.Await(t, ref, harness.Ready)
	}

	// A status write that meets a conflict is tried again on what is read anew.
	proxy := env.Proxy(t, "controller")
	undo := proxy.Fail(harness.Matching("update", "addressbindings/status"), http.StatusConflict)
	env.Patch(t, refs[0], `{"spec": {"address": {"name": "none"}}}`)
	harness.Eventually(t, "the object is read anew", func(context.Context) error {
		if proxy.Requests()[harness.Answer{Verb: "get", Group: v1.SchemeGroupVersion.Group, Resource: "addressbindings", Code: http.StatusOK}] == 0 {
			return errors.New("it was not")
		}
		return nil
	})
	undo()
	env.Await(t, refs[0], harness.HasCondition("Ready", "False", v1.ReasonAddressNotFound))
	for _, ref := range refs {
		env.Delete(t, ref)
	}
	for _, ref := range refs {
		env.Await(t, ref, harness.Gone)
	}
}

// deploy is the life of a SimpleDeployment.
func deploy(t *testing.T, env *harness.Env) {
	t.Helper()
	ns := env.Namespace(t)
	proxy := env.Proxy(t, "controller")
	// A status write that meets a conflict is tried again on what is read anew.
	undo := proxy.Fail(harness.Matching("update", "simpledeployments/status"), http.StatusConflict)
	sd := env.Apply(t, ns, deployment)[0]
	harness.Eventually(t, "the object is read anew", func(context.Context) error {
		if proxy.Requests()[harness.Answer{Verb: "get", Group: v1.SchemeGroupVersion.Group, Resource: "simpledeployments", Code: http.StatusOK}] == 0 {
			return errors.New("it was not")
		}
		return nil
	})
	undo()
	env.Await(t, sd, harness.Ready)

	// A Pod that has lost its label is looked at, and labelled again.
	pods, err := env.Kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: samples.PodOwnerUIDLabelKey})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("listing the Pods: %v (%d)", err, len(pods.Items))
	}
	pod := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("pods"), Namespace: ns, Name: pods.Items[0].Name}
	env.Patch(t, pod, `{"metadata": {"labels": {"`+samples.PodOwnerUIDLabelKey+`": null}}}`)
	env.Await(t, pod, func(o *unstructured.Unstructured) error {
		if o == nil || o.GetLabels()[samples.PodOwnerUIDLabelKey] == "" {
			return errors.New("it has no label")
		}
		return nil
	})

	env.Patch(t, sd, `{"spec": {"replicas": 0}}`)
	env.Await(t, pod, harness.Gone)
	env.Delete(t, sd)
	env.Await(t, sd, harness.Gone)
}

// address is the life of an AddressableService.
func address(t *testing.T, env *harness.Env) {
	t.Helper()
	ns := env.Namespace(t)
	alias := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: directory, Name: "it"}
	refs := env.Apply(t, ns, target+published)
	service, as := refs[0], refs[1]
	env.Await(t, as, harness.Ready)

	// The target goes and comes twice: the second time the event is counted up.
	for range 2 {
		env.Delete(t, service)
		env.Await(t, as, harness.HasCondition("Ready", "False", v1.ReasonTargetNotFound))
		service = env.Apply(t, ns, target)[0]
		env.Await(t, as, harness.Ready)
	}
	harness.Eventually(t, "an event that happened twice", func(ctx context.Context) error {
		events, err := env.Kube.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + v1.ReasonTargetNotFound})
		if err != nil {
			return fmt.Errorf("listing events: %w", err)
		}
		if len(events.Items) != 1 || events.Items[0].Count != 2 {
			return fmt.Errorf("the events are %v", events.Items)
		}
		return nil
	})

	env.Patch(t, alias, `{"spec": {"externalName": "elsewhere.example.com"}}`)
	env.Await(t, alias, func(o *unstructured.Unstructured) error {
		if strings.Contains(fmt.Sprint(o), "elsewhere") {
			return errors.New("it was not corrected")
		}
		return nil
	})

	// A status write that meets a conflict is tried again on what is read anew.
	proxy := env.Proxy(t, "controller")
	undo := proxy.Fail(harness.Matching("update", "addressableservices/status"), http.StatusConflict)
	env.Delete(t, service)
	harness.Eventually(t, "the object is read anew", func(context.Context) error {
		if proxy.Requests()[harness.Answer{Verb: "get", Group: v1.SchemeGroupVersion.Group, Resource: "addressableservices", Code: http.StatusOK}] == 0 {
			return errors.New("it was not")
		}
		return nil
	})
	undo()
	env.Await(t, as, harness.HasCondition("Ready", "False", v1.ReasonTargetNotFound))

	// An alias that the cache does not know yet is looked at when it is in the way.
	resume := proxy.PauseWatches(harness.Matching("watch", "services"))
	taken := env.Apply(t, directory, "apiVersion: v1\nkind: Service\nmetadata: {name: taken}\nspec: {type: ExternalName, externalName: a.example.com}\n")[0]
	given := env.Apply(t, ns, `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: given
  annotations: {samples.knative.dev/addressableservice.class: other}
spec:
  ref: {apiVersion: v1, kind: Service, name: none}
`)[0]
	env.Patch(t, given, `{"status": {"address": {"url": "http://given.example.com"}}}`, "status")
	late := env.Apply(t, ns, `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: late}
spec:
  ref: {apiVersion: samples.knative.dev/v1, kind: AddressableService, name: given}
  publish: {alias: taken}
`)[0]
	env.Await(t, late, harness.HasCondition("Published", "False", v1.ReasonAliasTaken))
	resume()
	env.Delete(t, taken)
	for _, ref := range []harness.Ref{as, late} {
		env.Delete(t, ref)
		env.Await(t, ref, harness.Gone)
	}
}

// TestNeitherProcessCanDoTheOthersWork asks the API server's authorizer.
func TestNeitherProcessCanDoTheOthersWork(t *testing.T) {
	env := harness.Shared(t)
	grants := granted(t)
	asked := 0
	for _, g := range grants {
		if slices.Contains([]string{"get", "list", "watch"}, g.verb) {
			continue
		}
		for _, other := range accounts {
			mayAsWell := slices.ContainsFunc(grants, func(o grant) bool {
				return o.account == other && o.verb == g.verb && o.group == g.group && o.resource == g.resource && o.name == g.name
			})
			if mayAsWell {
				continue
			}
			asked++
			if allowed(t, env, other, g) {
				t.Errorf("%s can do the work of another: %s", other, g)
			}
		}
	}
	if asked == 0 {
		t.Error("there was nothing to ask: the accounts have the same permissions")
	}
}

// TestWhatNobodyMayDo are some things that would hurt, which no rule grants.
func TestWhatNobodyMayDo(t *testing.T) {
	env := harness.Shared(t)
	for _, account := range accounts {
		for _, g := range []grant{
			{verb: "get", resource: "secrets", namespace: "kube-system"},
			{verb: "list", resource: "secrets"},
			{verb: "update", resource: "pods"},
			{verb: "deletecollection", resource: "pods"},
			{verb: "create", resource: "pods/exec"},
			{verb: "create", resource: "services", namespace: metav1.NamespaceDefault},
			{verb: "delete", resource: "services", namespace: metav1.NamespaceDefault},
			{verb: "update", resource: "configmaps", namespace: env.SystemNamespace},
			{verb: "update", group: "samples.knative.dev", resource: "addressableservices"},
			{verb: "delete", group: "samples.knative.dev", resource: "addressableservices"},
			{verb: "update", group: "samples.knative.dev", resource: "simpledeployments/scale"},
			{verb: "delete", group: "samples.knative.dev", resource: "addressbindings"},
			{verb: "get", group: "apps", resource: "deployments"},
			{verb: "update", group: "apps", resource: "deployments"},
			{verb: "delete", group: "apps", resource: "deployments"},
			{verb: "patch", group: "apps", resource: "deployments/status"},
			{verb: "patch", group: "batch", resource: "jobs"},
			{verb: "update", group: "admissionregistration.k8s.io", resource: "mutatingwebhookconfigurations", name: "somebody-elses"},
			{verb: "update", group: "apiextensions.k8s.io", resource: "customresourcedefinitions"},
			{verb: "create", group: "rbac.authorization.k8s.io", resource: "clusterroles"},
			{verb: "*", group: "*", resource: "*"},
		} {
			if allowed(t, env, account, g) {
				t.Errorf("%s may %s", account, g)
			}
		}
	}
}

func allowed(t *testing.T, env *harness.Env, account string, g grant) bool {
	t.Helper()
	resource, subresource, _ := strings.Cut(g.resource, "/")
	review, err := env.Kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   env.User(account),
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + env.SystemNamespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: g.namespace, Verb: g.verb, Group: g.group, Resource: resource, Subresource: subresource, Name: g.name,
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("asking whether %s may %s: %v", account, g, err)
	}
	return review.Status.Allowed
}
