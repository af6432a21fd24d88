//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// account is the name of the Job's service account.
const account = "migrate"

// installAccount applies what post-install/ gives the Job, without the Job, and returns a kubeconfig with the account's token.
func installAccount(t *testing.T, env *harness.Env) string {
	t.Helper()
	content, err := os.ReadFile(postInstall + "/100-migrate-account.yaml")
	if err != nil {
		t.Fatal(err)
	}
	env.Apply(t, "", string(content))
	answer, err := env.Kube.CoreV1().ServiceAccounts(env.SystemNamespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: answer.Status.Token}
	}
	kubeconfig := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// newOperatorKind is the operator's own kind, with objects of the namespace that is returned. Its CRD belongs to the
// environment, so that has to be the test's own.
func newOperatorKind(t *testing.T, env *harness.Env) *kind {
	t.Helper()
	k := &kind{env: env, namespace: env.Namespace(t)}
	k.resource.Group, k.resource.Resource = "samples.knative.dev", "addressableservices"
	return k
}

// publish makes n objects of the operator named o-0, o-1 and so on, which v1alpha1 has no field for most of, and waits until
// they are Ready.
func (k *kind) publish(t *testing.T, n int, annotations map[string]string) {
	t.Helper()
	for i := range n {
		object := fixtures.Published(k.namespace, fmt.Sprintf("o-%d", i))
		object.Annotations = annotations
		object.Spec.Path = new("/path")
		if _, err := fixtures.Client(k.env).SamplesV1().AddressableServices(k.namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	fixtures.AwaitReady(t, k.env, k.namespace, n)
}

// TestMigrationJob_OperatorRunning_MigratesItsObjects moves objects that are stored at v1alpha1, which has no field for most of their
// properties, while the operator works. The program has the settings and the permissions of the Job.
func TestMigrationJob_OperatorRunning_MigratesItsObjects(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions())
	k := newOperatorKind(t, env)
	kubeconfig := installAccount(t, env)
	env.Apply(t, k.namespace, fixtures.Target)
	fixtures.StoreAt(t, env, "v1alpha1")
	const n = 50
	k.publish(t, n, nil)
	if got := k.storedAt(t); got["v1alpha1"] != n || len(got) != 1 {
		t.Fatalf("before, objects are stored at %v, want all %d at v1alpha1", got, n)
	}
	for name, value := range env.StoredOf(t, k.resource) {
		if !strings.Contains(value, fixtures.Stash) {
			t.Fatalf("%s is stored as %s, want its other fields in an annotation", name, value)
		}
	}
	was := k.list(t)

	fixtures.StoreAt(t, env, "v1")
	if code, stderr := start(t, kubeconfig, jobSettings(t)...).end(t); code != 0 {
		t.Fatalf("it exits with %d:\n%s", code, stderr)
	}
	k.expectStored(t, n)
	k.expectUnchanged(t, was)
	after := env.StoredOf(t, k.resource)
	for name, value := range after {
		if strings.Contains(value, fixtures.Stash) {
			t.Errorf("%s still has the annotation, though v1 has a field for everything: %s", name, value)
		}
	}

	mark := env.Mark(t)
	if code, stderr := start(t, kubeconfig, jobSettings(t)...).end(t); code != 0 {
		t.Fatalf("the second time it exits with %d:\n%s", code, stderr)
	}
	if writes := mark.Entries(t, harness.ByUser(env.User(account)), harness.Writes); len(writes) > 0 {
		t.Errorf("the second time it writes: %v", writes)
	}
	if diff := cmp.Diff(after, env.StoredOf(t, k.resource)); diff != "" {
		t.Errorf("the second time etcd has changed (-first +second):\n%s", diff)
	}
}

// TestMigrationJob_ServiceAccount_HasMinimalPermissions compares what is granted with what is done, in a migration in which all
// happens that ever does: objects are cleaned, one of them after a conflict, and moved, and storedVersions is pruned.
func TestMigrationJob_ServiceAccount_HasMinimalPermissions(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions())
	k := newOperatorKind(t, env)
	kubeconfig := installAccount(t, env)
	fixtures.StoreAt(t, env, "v1alpha1")
	env.Apply(t, k.namespace, `
apiVersion: samples.knative.dev/v1alpha1
kind: AddressableService
metadata: {name: it}
spec: {serviceName: target}
`)
	fixtures.StoreAt(t, env, "v1")
	k.change(t, notServing("v1alpha1"))
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	m := k.migratorAs(config, before(http.MethodPatch, "/it", func() { env.Patch(t, k.ref("it"), `{"metadata": {"labels": {"a": "b"}}}`) }))
	mark := env.Mark(t)
	if _, err := m.Migrate(t.Context(), k.resource.String()); err != nil {
		t.Fatal(err)
	}
	k.expectMigrated(t, 1)

	entries := mark.Entries(t, harness.ByUser(env.User(account)))
	for _, e := range entries {
		if e.Code == http.StatusForbidden || e.Code == http.StatusUnauthorized {
			t.Errorf("it was rejected: %s %s/%s %s", e.Verb, e.Resource, e.Subresource, e.Name)
		}
	}
	role, err := env.Kube.RbacV1().ClusterRoles().Get(t.Context(), "mallard-migrate", metav1.GetOptions{})
	if err != nil || len(role.Rules) == 0 {
		t.Fatalf("reading what is granted: %v (%d rules)", err, len(role.Rules))
	}
	for _, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			if !slices.ContainsFunc(entries, func(e harness.AuditEntry) bool { return uses(e, rule, verb) }) {
				t.Errorf("granted but never used: %s of %v %v", verb, rule.Resources, rule.ResourceNames)
			}
		}
	}
}

// uses reports whether a request needs a verb of a rule.
func uses(e harness.AuditEntry, rule rbacv1.PolicyRule, verb string) bool {
	resource := e.Resource
	if e.Subresource != "" {
		resource += "/" + e.Subresource
	}
	return e.Verb == verb && slices.Contains(rule.APIGroups, e.Group) && slices.Contains(rule.Resources, resource) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, e.Name))
}
