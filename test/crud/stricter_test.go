/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// dependencies are plans whose later operations succeed only because of earlier ones. Before the document of three equal signs are objects that
// exist before; $NS is the namespace, of which names of objects without one are made, and $PORT the port of the Service before.
var dependencies = map[string]string{
	"ServiceAccount of a Pod": `
===
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $NS, name: mine}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Pod, metadata: {namespace: $NS, name: mine}, spec: {serviceAccountName: mine, containers: [{name: c, image: i}]}}
`,
	"PriorityClass of a Pod": `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}
===
operationType: CreateOrUpdate
spec: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: $NS}, value: 7}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Pod, metadata: {namespace: $NS, name: p}, spec: {priorityClassName: $NS, containers: [{name: c, image: i}]}}
---
{operationType: EnsureDeletedInBackground, kind: PriorityClass, name: $NS}
`,
	"quota that is deleted": `
{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/configmaps: "0"}}}
===
{operationType: EnsureDeletedInBackground, kind: ResourceQuota, namespace: $NS, name: none}
---
operationType: Create
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: a}}
`,
	"policy that is deleted": `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]
  validations: [{expression: "false"}]
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: $NS}, spec: {policyName: $NS, validationActions: [Deny]}}
===
{operationType: EnsureDeletedInBackground, kind: ValidatingAdmissionPolicyBinding, name: $NS}
---
{operationType: EnsureDeletedInBackground, kind: ValidatingAdmissionPolicy, name: $NS}
---
operationType: Create
spec: {apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: a}}
`,
	"webhook that is deleted": `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NS}
webhooks:
- name: absent.example.com
  clientConfig: {service: {namespace: $NS, name: absent}}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]
  admissionReviewVersions: [v1]
  sideEffects: None
===
{operationType: EnsureDeletedInBackground, kind: ValidatingWebhookConfiguration, name: $NS}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: a}}
`,
	"port that is released": `
{apiVersion: v1, kind: Service, metadata: {name: before}, spec: {type: NodePort, ports: [{port: 80}]}}
===
{operationType: EnsureDeletedInBackground, kind: Service, namespace: $NS, name: before}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Service, metadata: {namespace: $NS, name: after}, spec: {type: NodePort, ports: [{port: 80, nodePort: $PORT}]}}
`,
	"kind and object": `
===
operationType: CreateOrUpdate
spec:
  apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: things.$NS.example.org}
  spec:
    group: $NS.example.org
    names: {kind: Thing, plural: things}
    scope: Namespaced
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
operationType: CreateOrUpdate
spec: {apiVersion: $NS.example.org/v1, kind: Thing, metadata: {namespace: $NS, name: a}, size: 1}
---
{operationType: EnsureDeletedInBackground, kind: CustomResourceDefinition, name: things.$NS.example.org}
`,
	"Namespace and object": `
===
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Namespace, metadata: {name: $NS-more}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS-more, name: a}}
---
{operationType: EnsureDeletedInBackground, kind: Namespace, name: $NS-more}
`,
	"object in two versions": `
===
operationType: Create
spec: {apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {namespace: $NS, name: a}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: ReplicaSet, name: a}}}
---
{operationType: MergePatch, apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, namespace: $NS, name: a, spec: {spec: {maxReplicas: 3}}}
`,
	"permission that is granted": `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: limited}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: limited}
rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], verbs: [get, list, create, patch, escalate, bind]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: limited}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: limited}
subjects: [{kind: ServiceAccount, name: limited}]
===
operationType: CreateOrUpdate
spec:
  apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {namespace: $NS, name: granted}
  rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, create]}]
---
operationType: CreateOrUpdate
spec:
  apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {namespace: $NS, name: granted}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: granted}
  subjects: [{kind: ServiceAccount, namespace: $NS, name: limited}]
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: a}}
`,
	"fields that its creation wrote": `
===
operationType: CreateOrUpdate
strategy: apply
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: other}}
---
operationType: CreateOrUpdate
strategy: apply
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: own}, data: {color: blue}}
`,
}

// arrange creates the objects that exist before a plan in a new namespace, and returns its operations.
func (s *scene) arrange(plan string) (operations []crud.Operation) {
	s.Helper()
	s.ns = s.env.Namespace(s.T)
	before, after, _ := strings.Cut(strings.ReplaceAll(plan, "$NS", s.ns), "===\n")
	if strings.TrimSpace(before) != "" {
		s.env.Apply(s.T, s.ns, before)
	}
	if strings.Contains(before, "count/services") {
		// A quota has no effect until its controller has counted and the API server has received the number.
		harness.Eventually(s.T, "the quota is in force", func(ctx context.Context) error {
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "tried"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
			_, err := s.env.Kube.CoreV1().Services(s.ns).Create(ctx, service, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsForbidden(err) {
				return fmt.Errorf("a Service is not rejected: %w", err)
			}
			return nil
		})
	}
	if strings.Contains(after, "$PORT") {
		ports := field(s, s.get(corev1.SchemeGroupVersion.WithResource("services"), "before"), "spec", "ports").([]any)
		after = strings.ReplaceAll(after, "$PORT", fmt.Sprint(ports[0].(map[string]any)["nodePort"]))
	}
	if strings.Contains(after, "name: own") {
		s.run(crud.CreateOrUpdate(s.configMap("own", map[string]string{"color": "green"})), crud.Created)
	}
	return s.parse("---\n" + after)
}

func TestPreflight_OperationsDependOnEarlierOnes_RejectsNone(t *testing.T) {
	s := newScene(t, quick)
	for name, plan := range dependencies {
		for _, skip := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, without preflight: %t", name, skip), func(t *testing.T) {
				t.Parallel()
				s := &scene{T: t, env: s.env, client: s.client}
				operations := s.arrange(plan)
				s.rejects(name)
				if strings.HasPrefix(name, "permission") {
					s.client = s.limited()
				}
				if results, err := s.client.RunPlan(t.Context(), crud.Plan{SkipPreflight: skip, Operations: operations}); err != nil {
					t.Errorf("the outcomes are %s: %v", outcomes(results), err)
				}
			})
		}
	}
}

// rejects waits until the API server applies the objects that exist before a plan: its caches are late.
func (s *scene) rejects(name string) {
	s.Helper()
	if !strings.HasPrefix(name, "policy") && !strings.HasPrefix(name, "webhook") {
		return
	}
	harness.Eventually(s.T, "the "+name+" applies", func(ctx context.Context) error {
		_, err := s.env.Kube.CoreV1().Secrets(s.ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "tried"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return errors.New("the API server accepts a Secret")
		}
		return nil
	})
}

// limited returns a client with the permissions that a plan begins with, once the API server applies them.
func (s *scene) limited() *crud.Client {
	s.Helper()
	as := s.env.As(s.T, "system:serviceaccount:"+s.ns+":limited")
	harness.Eventually(s.T, "the permissions apply", func(ctx context.Context) error {
		_, err := as.Kube.RbacV1().Roles(s.ns).List(ctx, metav1.ListOptions{})
		return err
	})
	if _, err := as.Kube.CoreV1().ConfigMaps(s.ns).Get(s.Context(), "a", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		s.Fatalf("the user may read ConfigMaps: %v", err)
	}
	client, err := crud.New(as.Config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		s.Fatal(err)
	}
	return client
}

// randomOperation returns an operation that fits what exists, or does not.
func randomOperation(random *rand.Rand) string {
	name := fmt.Sprint("a", random.IntN(3))
	value := random.IntN(3)
	configMap := fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: %s}, data: {k: "%d"}}`, name, value)
	if random.IntN(12) == 0 {
		configMap = strings.Replace(configMap, "k:", "'not valid':", 1)
	}
	ref := "kind: ConfigMap, namespace: $NS, name: " + name
	choices := []string{
		"operationType: CreateOrUpdate\nspec: " + configMap, "operationType: CreateOrUpdate\nstrategy: apply\nspec: " + configMap,
		"operationType: Create\nspec: " + configMap, "operationType: CreateIfNotExists\nspec: " + configMap,
		fmt.Sprintf(`{operationType: MergePatch, %s, spec: {data: {k: "%d"}}}`, ref, value),
		fmt.Sprintf(`{operationType: JQPatch, %s, spec: '.data.k = "%d"'}`, ref, value),
		fmt.Sprintf(`{operationType: JSONPatch, %s, spec: [{op: test, path: /data/k, value: "%d"}, {op: add, path: /data/more, value: "1"}]}`, ref, value),
		fmt.Sprintf(`{operationType: MergePatch, ignoreMissing: true, %s, spec: {data: {k: "%d"}}}`, ref, value),
		fmt.Sprintf(`{operationType: EnsureDeletedInBackground, %s}`, ref), fmt.Sprintf(`{operationType: EnsureDeletedInBackground, wait: 10s, %s}`, ref),
		"operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $NS, name: " + name + "}}",
		"operationType: CreateIfNotExists\nspec: {apiVersion: v1, kind: Pod, metadata: {namespace: $NS, name: p}, spec: {serviceAccountName: " + name + ", containers: [{name: c, image: i}]}}",
		fmt.Sprintf("operationType: CreateOrUpdate\nspec: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: $NS-%s}, value: 7}", name),
		"operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: Pod, metadata: {namespace: $NS, name: q}, spec: {serviceAccountName: a0, priorityClassName: $NS-" + name + ", containers: [{name: c, image: i}]}}",
		"operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: ResourceQuota, metadata: {namespace: $NS, name: none}, spec: {hard: {count/services: \"0\"}}}",
		"{operationType: EnsureDeletedInBackground, kind: ResourceQuota, namespace: $NS, name: none}",
		"operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: Service, metadata: {namespace: $NS, name: " + name + "}, spec: {ports: [{port: 80}]}}",
		"operationType: CreateOrUpdate\nspec: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {namespace: $NS, name: " + name + "}, rules: []}",
		"operationType: CreateOrUpdate\nspec: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {namespace: $NS, name: b}, " +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: " + name + "}, subjects: [{kind: ServiceAccount, name: a, namespace: $NS}]}",
		"operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: Namespace, metadata: {name: $NS-more}}",
		"operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS-more, name: " + name + "}}",
	}
	return choices[random.IntN(len(choices))]
}

// What succeeds without a preflight succeeds with it, and what the preflight rejects fails without it.
func TestPreflight_RandomPlans_IsNeverStricterThanTheRun(t *testing.T) {
	s := newScene(t, quick)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var succeeded, rejected atomic.Int64
	t.Cleanup(func() {
		t.Logf("seed %d: of %d plans, %d succeeded and %d were rejected", seed, randomPlans, succeeded.Load(), rejected.Load())
		if min(succeeded.Load(), rejected.Load()) == 0 {
			t.Error("the plans are all of one sort")
		}
	})
	for n := range randomPlans {
		var text strings.Builder
		text.WriteString(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: a0}, data: {k: "0"}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/services: "0"}}}
===
`)
		for range 2 + random.IntN(3) {
			text.WriteString(randomOperation(random) + "\n---\n")
		}
		plan := text.String()
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			s := &scene{T: t, env: s.env, client: s.client}
			var ended [2]error
			var results []crud.Result
			for i, skip := range []bool{true, false} {
				operations := s.arrange(plan)
				results, ended[i] = s.client.RunPlan(t.Context(), crud.Plan{SkipPreflight: skip, Operations: operations, Task: []string{"", "t"}[n%2]})
				s.forget()
			}
			isExecuted := slices.ContainsFunc(results, func(result crud.Result) bool { return result.Outcome != crud.NotRun })
			switch {
			case ended[0] == nil && ended[1] != nil:
				t.Errorf("seed %d: the plan succeeds without preflight, and fails with it: %v\n%s", seed, ended[1], plan)
			case ended[0] == nil:
				succeeded.Add(1)
			case ended[1] != nil && !isExecuted:
				rejected.Add(1)
			}
		})
	}
}

// forget deletes the objects of a random plan that have no namespace.
func (s *scene) forget() {
	s.Helper()
	for i := range 3 {
		s.deleted(crud.Ref{Kind: "PriorityClass", Name: fmt.Sprintf("%s-a%d", s.ns, i)})
	}
	s.deleted(crud.Ref{Kind: "Namespace", Name: s.ns + "-more"})
}

func (s *scene) deleted(ref crud.Ref) {
	s.Helper()
	if _, err := s.client.Run(context.WithoutCancel(s.Context()), crud.EnsureDeletedInBackground(ref)); err != nil {
		s.Error(err)
	}
}
