/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestMain(m *testing.M) { harness.Main(m, harness.Separate()) }

// object is an AddressableService that refers to target; more is further spec in YAML's flow style.
func object(name, annotations, more string) string {
	return fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: %s, annotations: {%s}}
spec: {ref: {apiVersion: v1, kind: Service, name: target}%s}
`, name, annotations, more)
}

// hasURL is the condition of an object with this address.
func hasURL(url string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		if got, _, _ := unstructured.NestedString(o.Object, "status", "address", "url"); got != url {
			return fmt.Errorf("its address is %q, not %q", got, url)
		}
		return nil
	}
}

func TestConfig_CrossNamespaceReferences_AreAllowedAndDeniedLive(t *testing.T) {
	env := harness.Shared(t)
	ns, other := env.Namespace(t), env.Namespace(t)
	env.Apply(t, other, fixtures.Target)
	as := env.Apply(t, ns, fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: it}
spec: {ref: {apiVersion: v1, kind: Service, namespace: %s, name: target}}
`, other))[0]
	env.Await(t, as, harness.HasCondition("Ready", "False", v1.ReasonCrossNamespaceDenied))
	env.SetConfig(t, config.AddressableName, map[string]string{"allow-cross-namespace-references": "true"})
	env.Await(t, as, harness.Ready, hasURL("http://target."+other+".svc.cluster.local"))
	env.SetConfig(t, config.AddressableName, map[string]string{"allow-cross-namespace-references": "false"})
	env.Await(t, as, harness.HasCondition("Ready", "False", v1.ReasonCrossNamespaceDenied), hasURL(""))
}

func TestConfig_DirectoryMoves_AliasesFollow(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	moved := env.Namespace(t)
	alias := func(namespace string) harness.Ref {
		return harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: namespace, Name: ns}
	}
	as := env.Apply(t, ns, fixtures.Target+"---"+object("it", "", ", publish: {alias: "+ns+"}"))[1]
	env.Await(t, as, harness.Ready)
	env.Await(t, alias("knative-samples-directory"), harness.Exists)

	// The permission to write there has to be given first, as in config/.
	env.Apply(t, moved, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: directory}
rules: [{apiGroups: [""], resources: [services], verbs: [create, update, delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: directory}
subjects: [{kind: ServiceAccount, name: controller, namespace: %s}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: directory}
`, env.SystemNamespace))
	env.SetConfig(t, config.AddressableName, map[string]string{"directory-namespace": moved})
	env.Await(t, alias(moved), harness.Exists)
	env.Await(t, alias("knative-samples-directory"), harness.Deleted)
	env.Await(t, as, harness.Ready)
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	env.Await(t, alias(moved), harness.Deleted)
}
