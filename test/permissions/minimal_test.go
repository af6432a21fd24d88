/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

const (
	system    = "knative-samples"
	elsewhere = "default"
)

// actions are those that each service account is and is not allowed to do: verbs, a resource with a name or without, and the namespace.
var actions = map[string]struct{ may, mayNot []string }{
	"controller": {
		may: []string{
			"get,list,watch,patch addressableservices",
			"update addressableservices/status",
			"get,list,watch simpledeployments",
			"update simpledeployments/status",
			"get,list,watch,create,delete pods",
			"list,watch services",
			"list,watch namespaces",
			"list,watch mutatingwebhookconfigurations",
			"list,watch customresourcedefinitions",
			"create,patch events",
			"get,list,watch configmaps " + system,
			"create,get,update leases " + system,
			"create,update,delete services " + directory,
		},
		mayNot: []string{
			"create,update,delete,deletecollection addressableservices",
			"patch addressableservices/status",
			"get,create,update,patch,delete services " + elsewhere,
			"get,create,update,patch,delete services " + system,
			"get,patch services " + directory,
			"create,update,patch,delete namespaces",
			"create,update,patch,delete customresourcedefinitions",
			"create,update,patch,delete configmaps " + system,
			"get,list configmaps " + elsewhere,
			"get,list,watch secrets " + system,
			"get,list,watch secrets " + elsewhere,
			"list,watch,patch,delete leases " + system,
			"get,update leases " + elsewhere,
			"update mutatingwebhookconfigurations",
			"list,update validatingwebhookconfigurations",
			"create,update,delete,deletecollection simpledeployments",
			"update,patch simpledeployments/scale",
			"update,patch,deletecollection pods",
			"create pods/exec",
			"create serviceaccounts/token=controller " + system,
			"create,bind,escalate clusterroles",
			"impersonate users",
			"* *",
		},
	},
	"webhook": {
		may: []string{
			"list,watch mutatingwebhookconfigurations",
			"list,watch validatingwebhookconfigurations",
			"update mutatingwebhookconfigurations=defaulting.webhook.samples.knative.dev",
			"update mutatingwebhookconfigurations=binding.webhook.samples.knative.dev",
			"list,watch addressbindings",
			"update validatingwebhookconfigurations=validation.webhook.samples.knative.dev",
			"update validatingwebhookconfigurations=config.webhook.samples.knative.dev",
			"list,watch customresourcedefinitions",
			"update customresourcedefinitions=addressableservices.samples.knative.dev",
			"get namespaces=knative-samples",
			"get,list,watch configmaps " + system,
			"list,watch secrets " + system,
			"get,update secrets=webhook-certs " + system,
			"create,get,update leases " + system,
		},
		mayNot: []string{
			"create,delete,update,patch mutatingwebhookconfigurations",
			"create,delete,update,patch validatingwebhookconfigurations",
			"update validatingwebhookconfigurations=validation.webhook.example.com",
			"list,watch,update namespaces",
			"get namespaces=default",
			"create,update,patch,delete configmaps " + system,
			"list,watch secrets " + elsewhere,
			"create,delete,update secrets " + system,
			"update secrets=other " + system,
			"list,watch,patch,delete leases " + system,
			"get,list,create,update,patch,delete addressableservices",
			"update addressableservices/status",
			"get,create,update,patch,delete addressbindings",
			"get,list,watch,update,patch deployments",
			"get,list,create,update,patch,delete simpledeployments",
			"get,list,create,patch,delete pods",
			"get,list,create services",
			"create events",
			"create,patch,delete,update customresourcedefinitions",
			"update customresourcedefinitions=widgets.example.com",
			"create serviceaccounts/token=webhook " + system,
			"create,bind,escalate clusterroles",
			"impersonate users",
			"* *",
		},
	},
}

// groups are those of resources that are not in the core group.
var groups = map[string]string{
	"*":                               "*",
	"addressableservices":             samples.GroupName,
	"addressbindings":                 samples.GroupName,
	"simpledeployments":               samples.GroupName,
	"deployments":                     "apps",
	"leases":                          "coordination.k8s.io",
	"clusterroles":                    "rbac.authorization.k8s.io",
	"mutatingwebhookconfigurations":   "admissionregistration.k8s.io",
	"validatingwebhookconfigurations": "admissionregistration.k8s.io",
	"customresourcedefinitions":       "apiextensions.k8s.io",
}

// needed returns the grants that an action needs.
func needed(t *testing.T, action string) []grant {
	t.Helper()
	fields := strings.Fields(action)
	if len(fields) < 2 || len(fields) > 3 {
		t.Fatalf("%q is no action", action)
	}
	resource, name, _ := strings.Cut(fields[1], "=")
	kind, _, _ := strings.Cut(resource, "/")
	namespace := ""
	if len(fields) > 2 {
		namespace = fields[2]
	}
	var grants []grant
	for verb := range strings.SplitSeq(fields[0], ",") {
		grants = append(grants, grant{verb: verb, group: groups[kind], resource: resource, name: name, namespace: namespace})
	}
	return grants
}

func TestServiceAccounts_Permissions_AreMinimal(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for account, a := range actions {
		for want, list := range map[bool][]string{true: a.may, false: a.mayNot} {
			for _, action := range list {
				for _, g := range needed(t, action) {
					if got := allowed(t, env, account, g); got != want && !isAdded(account, g) {
						t.Errorf("%s may %s: %t, want %t", account, g, got, want)
					}
				}
			}
		}
	}
}
