/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// grant is one thing that an account may do, by the words of one Role.
type grant struct {
	account string
	// role is kind and name of the Role, for messages.
	role string
	// namespace is empty for what may be done everywhere.
	namespace string
	verb      string
	group     string
	resource  string // with its subresource behind a slash
	name      string // empty for any
	// aggregated says that the cluster adds it to the Role from another one.
	aggregated bool
}

func (g grant) String() string {
	return fmt.Sprintf("%s: %s %s %s/%s %s (%s)", g.account, g.verb, cmp.Or(g.group, "core"), g.resource, g.name, g.namespace, g.role)
}

// usedBy reports whether the grant allows a request. An apply that makes an object needs two.
func (g grant) usedBy(e harness.AuditEntry) bool {
	created := e.Verb == "patch" && e.Code == http.StatusCreated && g.verb == "create"
	return g.covers(e.Request, created)
}

func (g grant) covers(r harness.Request, created bool) bool {
	resource, subresource, _ := strings.Cut(g.resource, "/")
	return (g.verb == r.Verb || created) && g.group == r.Group && resource == r.Resource && subresource == r.Subresource &&
		(g.namespace == "" || g.namespace == r.Namespace) && (g.name == "" || g.name == r.Name)
}

// checkedByAdmission reports that no request uses the grant: the admission plugin OwnerReferencesPermissionEnforcement, with which the control
// plane runs, requires it when a process sets an owner. TestPermissions_Grants_AreAllUsedAndSufficient fails without it, since the request is rejected.
func (g grant) checkedByAdmission() bool {
	return g.verb == "update" && strings.HasSuffix(g.resource, "/finalizers") ||
		g.verb == "delete" && g.group == "admissionregistration.k8s.io" && g.name != ""
}

func (g grant) attributes() *authorizationv1.ResourceAttributes {
	resource, subresource, _ := strings.Cut(g.resource, "/")
	return &authorizationv1.ResourceAttributes{
		Namespace: g.namespace, Verb: g.verb, Group: g.group, Resource: resource, Subresource: subresource, Name: g.name,
	}
}

// manifests are patterns of the files with the permissions of the processes.
var manifests = []string{"../../config/*.yaml", "../../kustomize/overlays/hooks/*.yaml"}

// granted reads every grant of the manifests that a binding there gives to an account, except for those of the kinds that a ClusterRole aggregates:
// the suites do not do everything with each of these kinds.
func granted(t *testing.T) []grant {
	t.Helper()
	return slices.DeleteFunc(grantsOf(t, manifests...), func(g grant) bool { return g.aggregated })
}

// rolesOf reads the roles by their keys, and their bindings, of the manifests that match the patterns.
func rolesOf(t *testing.T, patterns ...string) (map[string]rbacv1.ClusterRole, []rbacv1.RoleBinding) {
	t.Helper()
	roles, bindings := map[string]rbacv1.ClusterRole{}, []rbacv1.RoleBinding{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("finding the manifests: %v (%d files)", err, len(files))
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := manifest.Parse(content)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, o := range objects {
				// Role and ClusterRole, and their bindings, have the same fields.
				switch o.GetKind() {
				case "Role", "ClusterRole":
					var role rbacv1.ClusterRole
					convert(t, o.Object, &role)
					roles[roleKey(o.GetKind(), role.Namespace, role.Name)] = role
				case "RoleBinding", "ClusterRoleBinding":
					var binding rbacv1.RoleBinding
					convert(t, o.Object, &binding)
					bindings = append(bindings, binding)
				}
			}
		}
	}
	return roles, bindings
}

// grantsOf reads every grant of the manifests that match the patterns.
func grantsOf(t *testing.T, patterns ...string) []grant {
	t.Helper()
	var grants []grant
	roles, bindings := rolesOf(t, patterns...)
	for _, b := range bindings {
		key := roleKey(b.RoleRef.Kind, b.Namespace, b.RoleRef.Name)
		bound, ok := roles[key]
		if !ok {
			t.Errorf("binding %s names %s, which is not in the manifests", b.Name, key)
		}
		for _, subject := range b.Subjects {
			for _, rule := range bound.Rules {
				grants = append(grants, expand(subject.Name, key, b.Namespace, rule)...)
			}
			for _, rule := range aggregated(t, bound, roles) {
				for _, g := range expand(subject.Name, key, b.Namespace, rule) {
					g.aggregated = true
					grants = append(grants, g)
				}
			}
		}
	}
	return grants
}

// aggregated are the rules that the cluster adds to a ClusterRole from others.
func aggregated(t *testing.T, role rbacv1.ClusterRole, roles map[string]rbacv1.ClusterRole) []rbacv1.PolicyRule {
	t.Helper()
	var rules []rbacv1.PolicyRule
	if role.AggregationRule == nil {
		return nil
	}
	for _, labelSelector := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&labelSelector)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range roles {
			if selector.Matches(labels.Set(other.Labels)) {
				rules = append(rules, other.Rules...)
			}
		}
	}
	return rules
}

func roleKey(kind, namespace, name string) string {
	if kind == "ClusterRole" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}

func convert(t *testing.T, from map[string]any, to any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from, to); err != nil {
		t.Fatal(err)
	}
}

// expand writes a rule out, one grant for each thing that it allows.
func expand(account, role, namespace string, rule rbacv1.PolicyRule) []grant {
	var grants []grant
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range slices.Concat(rule.ResourceNames, unlessAny(rule.ResourceNames)) {
					grants = append(grants, grant{account, role, namespace, verb, group, resource, name, false})
				}
			}
		}
	}
	return grants
}

// unlessAny is a rule's only name, that of any, when it lists none.
func unlessAny(names []string) []string {
	if len(names) > 0 {
		return nil
	}
	return []string{""}
}
