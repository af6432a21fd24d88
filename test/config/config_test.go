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
	"k8s.io/client-go/dynamic"

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

// specs is a spec of each version.
var specs = map[string]string{
	"v1alpha1": `{"serviceName": "target"}`,
	"v1beta1":  `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}}`,
	"v1":       `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}}`,
}

// objectAt is an AddressableService at a version, of a class unless that is empty. The API server names it.
func objectAt(t *testing.T, version, class string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{"apiVersion": "samples.knative.dev/%s", "kind": "AddressableService", "metadata": {"generateName": "it-"}, "spec": %s}`, version, specs[version])
	if err := o.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if class != "" {
		o.SetAnnotations(map[string]string{samples.ClassAnnotationKey: class})
	}
	return o
}

func classOf(o *unstructured.Unstructured) string {
	return o.GetAnnotations()[samples.ClassAnnotationKey]
}

func TestConfig_DefaultClass_FollowsTheConfigMap(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	at := func(version string) dynamic.ResourceInterface {
		return env.Dynamic.Resource(v1.SchemeGroupVersion.WithResource("addressableservices").GroupResource().WithVersion(version)).Namespace(ns)
	}
	create := func(version, class string) *unstructured.Unstructured {
		t.Helper()
		o, err := at(version).Create(t.Context(), objectAt(t, version, class), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	const other = "another.example.com"
	before := create("v1", samples.ClassMallard)
	env.SetConfig(t, config.AddressableName, map[string]string{"default-class": other})
	// The webhook learns of the change by a watch, so a first object may still get the old class.
	harness.Eventually(t, "a new object with the class of the ConfigMap", func(ctx context.Context) error {
		o, err := at("v1").Create(ctx, objectAt(t, "v1", ""), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && classOf(o) != other {
			err = fmt.Errorf("it got the class %q", classOf(o))
		}
		return err
	})
	for version := range specs {
		stored := create(version, "")
		if got := classOf(stored); got != other {
			t.Errorf("at %s: got class %q, want the new default", version, got)
		}
		if got := stored.GetFinalizers(); len(got) != 0 {
			t.Errorf("at %s: an object of another class has got the finalizers %q", version, got)
		}
		if got := classOf(create(version, samples.ClassMallard)); got != samples.ClassMallard {
			t.Errorf("at %s: got class %q instead of the requested one", version, got)
		}
		// An object that had a class keeps it, whatever the default is by now.
		harness.Eventually(t, "an update without the annotation", func(ctx context.Context) error {
			live, err := at(version).Get(ctx, before.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			replacement := objectAt(t, version, "")
			replacement.SetName(live.GetName())
			replacement.SetResourceVersion(live.GetResourceVersion())
			replaced, err := at(version).Update(ctx, replacement, metav1.UpdateOptions{})
			if err == nil && classOf(replaced) != samples.ClassMallard {
				t.Errorf("at %s: after an update without the annotation: got class %q, want the old %q", version, classOf(replaced), samples.ClassMallard)
			}
			return err
		})
	}
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
