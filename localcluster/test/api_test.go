/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

func TestAPI_Version_IsReported(t *testing.T) {
	p := sharedCluster(t)
	info, err := p.client(t).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if info.GitVersion != release || !strings.HasPrefix(release, "v"+info.Major+"."+info.Minor+".") {
		t.Errorf("GET /version says %s, %s.%s", info.GitVersion, info.Major, info.Minor)
	}
}

// TestAPI_Permissions_AreEnforced checks that neither an impersonated user nor a service account has permissions without a grant, and that the latter
// has the granted ones.
func TestAPI_Permissions_AreEnforced(t *testing.T) {
	p := sharedCluster(t)
	admin := p.client(t)
	namespace := newNamespace(t, admin)

	config := p.config(t)
	config.Impersonate = rest.ImpersonationConfig{UserName: "unprivileged"}
	if _, err := newClient(t, config).CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("an impersonated user without permissions: %v", err)
	}

	token := requestToken(t, admin, namespace, "default")
	holder := newClient(t, withToken(p.config(t), token))
	if want, got := "system:serviceaccount:"+namespace+":default", whoAmI(t, p.config(t), token); got != want {
		t.Errorf("the token's holder is %q instead of %q", got, want)
	}
	if _, err := holder.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a service account without permissions: %v", err)
	}
	_, err := admin.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the granted right", func(ctx context.Context) error {
		_, err := holder.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		return err
	})
	if _, err := holder.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("Secrets, which the role view does not have: %v", err)
	}
	anonymous := newClient(t, rest.AnonymousClientConfig(p.config(t)))
	if _, err := anonymous.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("an anonymous user: %v", err)
	}
}

func TestAPI_AggregatedRoles_AreFilled(t *testing.T) {
	client := sharedCluster(t).client(t)
	_, err := client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name: "ducks-viewer", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"},
		},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{"ponds.example.com"}, Resources: []string{"ducks"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"admin", "edit", "view"} {
		eventually(t, "the aggregation into "+name, func(ctx context.Context) error {
			role, err := client.RbacV1().ClusterRoles().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, rule := range role.Rules {
				if slices.Contains(rule.Resources, "ducks") {
					return nil
				}
			}
			return fmt.Errorf("its %d rules have no ducks", len(role.Rules))
		})
	}
}

// TestAPI_OwnerDeleted_DependentsAreDeleted deletes the owner of two kinds of children, and an owner of a kind that has only just
// been defined, because that is what operators' tests do.
func TestAPI_OwnerDeleted_DependentsAreDeleted(t *testing.T) {
	p := sharedCluster(t)
	client := p.client(t)
	namespace := newNamespace(t, client)
	owner, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ducks := defineDucks(t, p.config(t)).Namespace(namespace)
	duck, err := ducks.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "ponds.example.com/v1", "kind": "Duck", "metadata": map[string]any{"name": "owner"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for child, reference := range map[string]metav1.OwnerReference{
		"of-config-map": {APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
		"of-duck":       {APIVersion: "ponds.example.com/v1", Kind: "Duck", Name: duck.GetName(), UID: duck.GetUID()},
	} {
		meta := metav1.ObjectMeta{Name: child, OwnerReferences: []metav1.OwnerReference{reference}}
		if _, err := client.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := ducks.Delete(t.Context(), duck.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, child := range []string{"of-config-map", "of-duck"} {
		eventually(t, "the deletion of "+child, func(ctx context.Context) error {
			return deleted(client.CoreV1().Secrets(namespace).Get(ctx, child, metav1.GetOptions{}))
		})
	}
}

// deleted returns nil if a get found no object.
func deleted[T any](_ T, err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return errThere
}

// defineDucks defines a kind and returns a client for its objects once they are served.
func defineDucks(t *testing.T, config *rest.Config) dynamic.NamespaceableResourceInterface {
	t.Helper()
	definitions, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = definitions.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "ducks.ponds.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "ponds.example.com",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "ducks", Kind: "Duck"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"},
				},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ducks := client.Resource(schema.GroupVersionResource{Group: "ponds.example.com", Version: "v1", Resource: "ducks"})
	eventually(t, "the new kind", func(ctx context.Context) error {
		_, err := ducks.List(ctx, metav1.ListOptions{})
		return err
	})
	return ducks
}

// TestAPI_Quota_IsEnforced checks that a quota rejects what is beyond it, and that what is freed can be used again.
func TestAPI_Quota_IsEnforced(t *testing.T) {
	client := sharedCluster(t).client(t)
	namespace := newNamespace(t, client)
	_, err := client.CoreV1().ResourceQuotas(namespace).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.ResourcePods: resource.MustParse("1"), corev1.ResourceSecrets: resource.MustParse("0"),
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(ctx context.Context, name string) error {
		_, err := client.CoreV1().Pods(namespace).Create(ctx, pod(name), metav1.CreateOptions{})
		return err
	}
	// Admission learns of a new quota by a watch. Objects that it admits before may never be counted.
	eventually(t, "admission knows the quota", func(ctx context.Context) error {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "none"}}
		_, err := client.CoreV1().Secrets(namespace).Create(ctx, secret, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: one") {
			return errors.Join(errors.New("a Secret beyond the quota is admitted"), err)
		}
		return nil
	})
	eventually(t, "the Pod that the quota allows", func(ctx context.Context) error { return create(ctx, "first") })
	if err := create(t.Context(), "second"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: one") {
		t.Errorf("a Pod beyond the quota: %v", err)
	}
	if err := client.CoreV1().Pods(namespace).Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a Pod in place of the deleted one", func(ctx context.Context) error { return create(ctx, "second") })
}
