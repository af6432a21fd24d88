/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// user returns access to the API server as a user to whom a RoleBinding in the namespace grants these ClusterRoles, and nothing else does.
func user(t *testing.T, env *harness.Env, namespace string, clusterRoles ...string) *rest.Config {
	t.Helper()
	name := "user-of-" + namespace + "-" + strings.Join(clusterRoles, "-")
	for _, role := range clusterRoles {
		_, err := env.Kube.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name + "-as-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("binding %s to ClusterRole %s: %v", name, role, err)
		}
	}
	config := rest.CopyConfig(env.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name}
	return config
}

// TestUserRoles_StockViewEditAndAdmin_AllowWhatUsersNeed queries the authorizer as users whose only permissions are those of Kubernetes' own roles,
// which the roles in config/ are aggregated to.
func TestUserRoles_StockViewEditAndAdmin_AllowWhatUsersNeed(t *testing.T) {
	env := harness.Shared(t)
	ns, other := env.Namespace(t), env.Namespace(t)
	read, write := []string{"get", "list", "watch"}, []string{"create", "update", "patch", "delete", "deletecollection"}
	for role, mayWrite := range map[string]bool{"view": false, "edit": true, "admin": true} {
		kube := kubeFor(t, user(t, env, ns, role))
		for _, crd := range fixtures.CRDs(t, env) {
			kind := crd.Spec.Names.Plural
			mustBe := func(want bool, namespace, resource string, verbs ...string) {
				t.Helper()
				for _, verb := range verbs {
					g := grant{namespace: namespace, verb: verb, group: samples.GroupName, resource: resource}
					harness.Eventually(t, "the aggregated roles", func(context.Context) error {
						if got := allowedTo(t, kube, g); got != want {
							return fmt.Errorf("a user with role %s: %s %s in namespace %s: allowed is %t, want %t", role, verb, resource, namespace, got, want)
						}
						return nil
					})
				}
			}
			mustBe(true, ns, kind, read...)
			mustBe(true, ns, kind+"/status", "get")
			mustBe(mayWrite, ns, kind, write...)
			mustBe(false, ns, kind+"/status", "update", "patch")
			mustBe(false, ns, kind+"/finalizers", "update")
			mustBe(false, other, kind, "get", "create")
			if scale := crd.Spec.Versions[0].Subresources.Scale; scale != nil {
				mustBe(true, ns, kind+"/scale", "get")
				mustBe(mayWrite, ns, kind+"/scale", "update", "patch")
			}
		}
	}
}

// TestOwnerReferences_NoPermissionForFinalizers_AreRejected shows that the control plane runs with the admission plugin
// OwnerReferencesPermissionEnforcement, which some distributions enable: the other suites then show that the operator's roles suffice for it.
func TestOwnerReferences_NoPermissionForFinalizers_AreRejected(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	sd := env.Apply(t, ns, deployment)[0]
	owner, err := samplesFor(t, env.Config).SamplesV1alpha1().SimpleDeployments(ns).Get(t.Context(), sd.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(kube kubernetes.Interface, blocks bool) error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				GenerateName:    "owned-",
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GetGroupVersionKind())},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}},
		}
		pod.OwnerReferences[0].BlockOwnerDeletion = &blocks
		_, err := kube.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	// The authorizer learns of a binding some time after it was created.
	editor := kubeFor(t, user(t, env, ns, "edit"))
	harness.Eventually(t, "a user creates a Pod that does not block the deletion of its owner", func(context.Context) error {
		return create(editor, false)
	})
	if err := create(editor, true); !apierrors.IsForbidden(err) {
		t.Errorf("a user who cannot update the owner's finalizers: got error %v, want that it is forbidden", err)
	}
	controller := kubeFor(t, user(t, env, ns, "edit", "mallard-simpledeployment-controller"))
	harness.Eventually(t, "a user with the controller's role as well creates a Pod that blocks the deletion of its owner", func(context.Context) error {
		return create(controller, true)
	})
}
