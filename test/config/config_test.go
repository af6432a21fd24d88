/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
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

func TestConfig_DomainChanges_AffectsObjectsOfOurClassOnly(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	public := env.Apply(t, ns, fixtures.Target+"---"+object("public", "", ", visibility: Public"))[1]
	local := env.Apply(t, ns, object("local", "", ""))[0]
	foreign := env.Apply(t, ns, object("foreign", "samples.knative.dev/addressableservice.class: other", ", visibility: Public"))[0]
	env.Await(t, public, harness.Ready, hasURL("https://public."+ns+".example.com"))
	env.Await(t, local, harness.Ready)

	mark := env.Mark(t)
	env.Throughout(t, foreign, env.Unchanged(t, foreign), func() {
		env.SetConfig(t, config.AddressableName, map[string]string{
			"domain": "corp.example.org", "domain-template": "{{.Namespace}}-{{.Name}}.{{.Domain}}", "scheme": "http",
		})
		env.Await(t, public, harness.Ready, hasURL("http://"+ns+"-public.corp.example.org"))
	})
	for _, e := range mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller"))) {
		if e.Namespace == ns && e.Name != "public" {
			t.Errorf("the controller wrote to an object that the change does not concern: %+v", e)
		}
	}
}

func TestConfig_PublicHostIsNoName_ConditionReportsIt(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	// Each is a valid name of an object; joined by the template they are too long for a label.
	long := "a123456789-123456789-123456789-123456789-123456789-123456789"
	env.SetConfig(t, config.AddressableName, map[string]string{"domain-template": "{{.Name}}-{{.Namespace}}.{{.Domain}}"})
	as := env.Apply(t, ns, fixtures.Target+"---"+object(long, "", ", visibility: Public"))[1]
	env.Await(t, as, harness.HasCondition("TargetResolved", "False", v1.ReasonHostInvalid), hasURL(""))
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

func TestConfig_DefaultClass_FollowsTheConfigMap(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.SetConfig(t, config.AddressableName, map[string]string{"default-class": "other"})
	// The webhook learns of the change by a watch, so a first object may still get the old class.
	client, n := fixtures.Client(env).SamplesV1().AddressableServices(ns), 0
	harness.Eventually(t, "a new object with the class of the ConfigMap", func(ctx context.Context) error {
		n++
		as, err := client.Create(ctx, &v1.AddressableService{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("it-%d", n)},
			Spec:       v1.AddressableServiceSpec{Ref: v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"}},
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("creating an object: %w", err)
		}
		if class := as.Annotations[samples.ClassAnnotationKey]; class != "other" {
			return fmt.Errorf("it got the class %q", class)
		}
		return nil
	})
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
rules: [{apiGroups: [""], resources: [services], verbs: [get, create, update, delete]}]
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
