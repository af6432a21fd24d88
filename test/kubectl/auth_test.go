/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const (
	system    = "--namespace=knative-samples"
	directory = "--namespace=knative-samples-directory"
	elsewhere = "--namespace=default"
	everyone  = "--all-namespaces"
	status    = "--subresource=status"

	controllerLease = "leases/controller.00-of-01"
)

// permissions lists actions that each service account is and is not allowed to do: verbs, a resource, and the namespace.
var permissions = map[string]struct{ may, mayNot []string }{
	"controller": {
		may: []string{
			"get,list,watch,patch addressableservices " + everyone,
			"update addressableservices " + everyone + " " + status,
			"get,list,watch simpledeployments " + everyone,
			"update simpledeployments " + everyone + " " + status,
			"get,list,watch,create,patch,delete pods " + everyone,
			"list,watch services " + everyone,
			"list,watch namespaces",
			"list,watch mutatingwebhookconfigurations",
			"list,watch customresourcedefinitions",
			"create,patch events " + everyone,
			"get,list,watch configmaps " + system,
			"create,list leases " + system,
			"update " + controllerLease + " " + system,
			"update leases/controller.09-of-10 " + system,
			"get,create,update,delete services " + directory,
		},
		mayNot: []string{
			"create,update,delete,deletecollection addressableservices " + everyone,
			"patch addressableservices " + everyone + " " + status,
			"get,create,update,patch,delete services " + elsewhere,
			"get,create,update,patch,delete services " + system,
			"create,update,patch,delete namespaces",
			"create,update,patch,delete customresourcedefinitions",
			"create,update,patch,delete configmaps " + system,
			"get,list configmaps " + elsewhere,
			"get,list,watch secrets " + system,
			"get,list,watch secrets " + elsewhere,
			"get,delete leases " + system,
			"update leases/webhook.00-of-01 " + system,
			"update mutatingwebhookconfigurations",
			"list,update validatingwebhookconfigurations",
			"create,update,delete,deletecollection simpledeployments " + everyone,
			"update,patch simpledeployments " + everyone + " --subresource=scale",
			"update,deletecollection pods " + everyone,
			"create pods " + everyone + " --subresource=exec",
			"create serviceaccounts/controller " + system + " --subresource=token",
			"create,bind,escalate clusterroles",
			"impersonate users",
			"* *.*",
		},
	},
	"webhook": {
		may: []string{
			"list,watch mutatingwebhookconfigurations",
			"list,watch validatingwebhookconfigurations",
			"update mutatingwebhookconfigurations/defaulting.webhook.samples.knative.dev",
			"update mutatingwebhookconfigurations/binding.webhook.samples.knative.dev",
			"list,watch addressbindings.samples.knative.dev " + everyone,
			"update validatingwebhookconfigurations/validation.webhook.samples.knative.dev",
			"update validatingwebhookconfigurations/config.webhook.samples.knative.dev",
			"list,watch customresourcedefinitions",
			"update customresourcedefinitions/addressableservices.samples.knative.dev",
			"get namespaces/knative-samples",
			"get,list,watch configmaps " + system,
			"list,watch secrets " + system,
			"update secrets/webhook-certs " + system,
			"create,list leases " + system,
			"update leases/webhook.00-of-01 " + system,
		},
		mayNot: []string{
			"create,delete,update,patch mutatingwebhookconfigurations",
			"create,delete,update,patch validatingwebhookconfigurations",
			"update validatingwebhookconfigurations/validation.webhook.example.com",
			"list,watch,update namespaces",
			"get namespaces/default",
			"create,update,patch,delete configmaps " + system,
			"list,watch secrets " + elsewhere,
			"create,delete,update secrets " + system,
			"update secrets/other " + system,
			"update " + controllerLease + " " + system,
			"get,list,create,update,patch,delete addressableservices " + everyone,
			"update addressableservices " + everyone + " " + status,
			"get,create,update,patch,delete addressbindings " + everyone,
			"get,list,watch,update,patch deployments " + everyone,
			"get,list,create,update,patch,delete simpledeployments " + everyone,
			"get,list,create,patch,delete pods " + everyone,
			"get,list,create services " + everyone,
			"create events " + everyone,
			"create,patch,delete,update customresourcedefinitions",
			"update customresourcedefinitions/widgets.example.com",
			"create serviceaccounts/webhook " + system + " --subresource=token",
			"create,bind,escalate clusterroles",
			"impersonate users",
			"* *.*",
		},
	},
}

func TestServiceAccounts_Permissions_AreMinimal(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for account, r := range permissions {
		for _, right := range r.may {
			checkCanI(t, env, account, right, "yes")
		}
		for _, right := range r.mayNot {
			checkCanI(t, env, account, right, "no")
		}
	}
}

func checkCanI(t *testing.T, env *harness.Env, account, right, want string) {
	t.Helper()
	t.Run(account+" "+right, func(t *testing.T) {
		t.Parallel()
		verbs, rest, _ := strings.Cut(right, " ")
		for verb := range strings.SplitSeq(verbs, ",") {
			args := append([]string{"auth", "can-i", "--as", env.User(account), verb}, strings.Fields(rest)...)
			// The answer no is an error as well.
			out, err := env.TryKubectl(t, "", args...)
			if got := strings.TrimSpace(out); got != want && !strings.HasPrefix(got, want+" - ") {
				t.Errorf("%s %s: got %q and error %v, want %s", verb, rest, out, err, want)
			}
		}
	})
}
