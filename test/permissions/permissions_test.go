/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"slices"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { harness.Main(m, harness.WithOverlay("hooks")) }

var accounts = []string{"controller", "hooks", "webhook"}

// TestPermissions_EachProcess_LacksThoseOfTheOther queries the API server's authorizer.
func TestPermissions_EachProcess_LacksThoseOfTheOther(t *testing.T) {
	env := harness.Shared(t)
	grants := granted(t)
	asked := 0
	for _, g := range grants {
		// The leases of all processes are in one namespace, and their names contain the number of buckets.
		if slices.Contains([]string{"get", "list", "watch"}, g.verb) || g.resource == "leases" {
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

// TestPermissions_DangerousRequests_AreDenied checks some harmful requests, which no rule grants.
func TestPermissions_DangerousRequests_AreDenied(t *testing.T) {
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
			{verb: "update", group: "admissionregistration.k8s.io", resource: "mutatingwebhookconfigurations", name: "foreign"},
			{verb: "update", group: "apiextensions.k8s.io", resource: "customresourcedefinitions"},
			{verb: "create", group: "rbac.authorization.k8s.io", resource: "clusterroles"},
			{verb: "*", group: "*", resource: "*"},
		} {
			if !isAdded(account, g) && allowed(t, env, account, g) {
				t.Errorf("%s may %s", account, g)
			}
		}
	}
}

// allowedTo queries the authorizer as the user of the client.
func allowedTo(t *testing.T, kube kubernetes.Interface, g grant) bool {
	t.Helper()
	review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: g.attributes()},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("asking whether %s is allowed: %v", g, err)
	}
	return review.Status.Allowed
}

func allowed(t *testing.T, env *harness.Env, account string, g grant) bool {
	t.Helper()
	review, err := env.Kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               env.User(account),
			Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + env.SystemNamespace, "system:authenticated"},
			ResourceAttributes: g.attributes(),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("asking whether %s may %s: %v", account, g, err)
	}
	return review.Status.Allowed
}
