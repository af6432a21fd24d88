/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// parse reads an operation file.
func (s *scene) parse(file string) []crud.Operation {
	s.Helper()
	parsed, err := operations.Parse([]byte(strings.ReplaceAll(file, "$NS", s.ns)))
	if err != nil {
		s.Fatal(err)
	}
	return parsed.Operations
}

func outcomes(results []crud.Result) []crud.Outcome {
	outcomes := make([]crud.Outcome, len(results))
	for i, result := range results {
		outcomes[i] = result.Outcome
	}
	return outcomes
}

// endedWith reports whether the operations of a plan ended so.
func endedWith(results []crud.Result, want ...crud.Outcome) bool {
	return slices.Equal(outcomes(results), want)
}

// first are three operations that succeed.
const first = `
operationType: Create
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: a}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: b}, data: {k: "1"}}
---
{operationType: EnsureDeleted, kind: ConfigMap, namespace: $NS, name: c}
---
`

func TestT35_Plan_OneOperationCannotSucceed_NothingIsExecuted(t *testing.T) {
	s := newScene(t)
	limited := s.env.As(t, s.account(`[{apiGroups: [""], resources: [configmaps], verbs: ["*"]}, {apiGroups: [""], resources: [secrets], verbs: [get]}]`))
	limitedClient, err := crud.New(limited.Config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		t.Fatal(err)
	}
	s.denyNamed(t, "denied")
	for name, tc := range map[string]struct {
		client *crud.Client
		op     string
		want   []string
	}{
		"unknown kind": {
			s.client, "{operationType: EnsureDeleted, kind: Nonsense, namespace: $NS, name: a}", []string{"operation 4", "KindUnknown"},
		},
		"missing permission": {
			limitedClient, "{operationType: Create, spec: {apiVersion: v1, kind: Secret, metadata: {namespace: $NS, name: a}}}",
			[]string{"operation 4", "Forbidden", `cannot create resource "secrets"`},
		},
		"rejected by dry run": {
			s.client, "{operationType: Create, spec: {apiVersion: v1, kind: Service, metadata: {namespace: $NS, name: A_B}, spec: {ports: [{port: 80}]}}}",
			[]string{"operation 4", "Invalid", "metadata.name", "nothing was executed; preflight: off skips this check"},
		},
		"denied by admission": {
			s.client, "{operationType: Create, spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: denied}}}",
			[]string{"operation 4", "ValidatingAdmissionPolicy", "not this name"},
		},
		"absent object": {
			s.client, "{operationType: MergePatch, kind: ConfigMap, namespace: $NS, name: absent, spec: {data: {k: \"1\"}}}",
			[]string{"operation 4", "NotFound"},
		},
	} {
		results, err := tc.client.RunPlan(t.Context(), crud.Plan{Operations: s.parse(first + tc.op)})
		if err == nil || !endedWith(results, crud.NotRun, crud.NotRun, crud.NotRun, crud.NotRun) {
			t.Errorf("%s: the outcomes are %s, the error is %v", name, outcomes(results), err)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the message %q lacks %q", name, err, want)
			}
		}
	}
	list, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("there are ConfigMaps: %v, %v", list, err)
	}
	_, err = operations.Parse([]byte(first + "{operationType: JQPatch, kind: ConfigMap, namespace: d, name: a, spec: .foo(}"))
	if err == nil || !strings.Contains(err.Error(), "operation 4") {
		t.Errorf("a jq program that does not compile: %v", err)
	}
}

// denyNamed denies ConfigMaps of a name in the namespace.
func (s *scene) denyNamed(t *testing.T, name string) {
	t.Helper()
	s.env.Define(t, strings.NewReplacer("$NS", s.ns, "$NAME", name).Replace(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS-$NAME}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "object.metadata.name != '$NAME'", message: not this name}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS-$NAME}
spec: {policyName: $NS-$NAME, validationActions: [Deny]}
`))
	trying, err := crud.New(s.config, crud.Options{FieldManager: "crud-test", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the policy denies", func(ctx context.Context) error {
		if _, err := trying.Run(ctx, crud.Create(s.configMap(name, nil))); err == nil || !strings.Contains(err.Error(), "not this name") {
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	})
}

// account creates a service account with permissions in the namespace, and returns its user name.
func (s *scene) account(rules string) string {
	s.Helper()
	s.env.Apply(s.T, s.ns, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: limited}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: limited}
rules: `+rules+`
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: limited}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: limited}
subjects: [{kind: ServiceAccount, name: limited}]
`)
	return "system:serviceaccount:" + s.ns + ":limited"
}

func TestT36_Plan_OperationFails_LaterOnesAreNotRunAndARepetitionConverges(t *testing.T) {
	s := newScene(t)
	plan := crud.Plan{SkipPreflight: true, Operations: s.parse(`
operationType: CreateIfNotExists
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: a}}
---
{operationType: MergePatch, kind: ConfigMap, namespace: $NS, name: b, spec: {data: {k: "1"}}}
---
{operationType: MergePatch, kind: ConfigMap, namespace: $NS, name: a, spec: {data: {k: "1"}}}
`)}
	results, err := s.client.RunPlan(t.Context(), plan)
	if !endedWith(results, crud.Created, crud.Failed, crud.NotRun) || err == nil || !strings.HasPrefix(err.Error(), "operation 2: MergePatch ConfigMap "+s.ns+"/b: NotFound: ") {
		t.Errorf("the outcomes are %s, the error is %v", outcomes(results), err)
	}
	continued := plan
	continued.Continue = true
	results, err = s.client.RunPlan(t.Context(), continued)
	if !endedWith(results, crud.Unchanged, crud.Failed, crud.Updated) || err == nil {
		t.Errorf("with Continue, the outcomes are %s, the error is %v", outcomes(results), err)
	}
	s.run(crud.Create(s.configMap("b", nil)), crud.Created)
	results, err = s.client.RunPlan(t.Context(), plan)
	if err != nil || !endedWith(results, crud.Unchanged, crud.Updated, crud.Updated) {
		t.Errorf("with b, the outcomes are %s, the error is %v", outcomes(results), err)
	}
}

// An operation may wait for longer than a plan waits for a kind.
func TestPlan_Operation_HasNoDeadline(t *testing.T) {
	s := newScene(t)
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return withoutDeadline{t, next} })
	client, err := crud.New(config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		t.Fatal(err)
	}
	if results, err := client.RunPlan(t.Context(), crud.Plan{Operations: s.parse(first)}); err != nil {
		t.Errorf("the outcomes are %s, the error is %v", outcomes(results), err)
	}
}

// withoutDeadline reports the requests for ConfigMaps that have a deadline.
type withoutDeadline struct {
	*testing.T
	next http.RoundTripper
}

func (w withoutDeadline) RoundTrip(request *http.Request) (*http.Response, error) {
	if _, ok := request.Context().Deadline(); ok && strings.Contains(request.URL.Path, "/configmaps") {
		w.Errorf("%s %s has a deadline", request.Method, request.URL.Path)
	}
	return w.next.RoundTrip(request)
}

func TestT37_Plan_OperationsDependOnEarlierOnes_AllSucceed(t *testing.T) {
	s := newScene(t)
	name := "plan-" + s.ns
	s.Cleanup(func() {
		for _, ref := range []crud.Ref{{Kind: "Namespace", Name: name}, {Kind: "CustomResourceDefinition", Name: "planned.crud.example.org"}} {
			if _, err := s.client.Run(context.WithoutCancel(t.Context()), crud.EnsureDeletedInBackground(ref)); err != nil {
				t.Error(err)
			}
		}
	})
	results, err := s.client.RunPlan(t.Context(), crud.Plan{Operations: s.parse(fmt.Sprintf(`
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: Namespace, metadata: {name: %[1]s}}
---
operationType: CreateOrUpdate
spec: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: %[1]s, name: a}, data: {k: "1"}}
---
{operationType: JQPatch, kind: ConfigMap, namespace: %[1]s, name: a, spec: '.data.k = "2"'}
---
operationType: CreateOrUpdate
spec:
  apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: planned.crud.example.org}
  spec:
    group: crud.example.org
    names: {kind: Planned, plural: planned}
    scope: Namespaced
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
operationType: CreateOrUpdate
spec: {apiVersion: crud.example.org/v1, kind: Planned, metadata: {namespace: %[1]s, name: a}, size: 1}
`, name))})
	if err != nil || !endedWith(results, crud.Created, crud.Created, crud.Updated, crud.Created, crud.Created) {
		t.Errorf("the outcomes are %s, the error is %v", outcomes(results), err)
	}
}

func TestT40_DryRun_WritesNothing(t *testing.T) {
	s := newScene(t, func(options *crud.Options) { options.DryRun = true })
	other := s.env.Kube.CoreV1().ConfigMaps(s.ns)
	if _, err := other.Create(t.Context(), s.configMap("a", map[string]string{"k": "1"}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := s.get(configMaps, "a").GetResourceVersion()
	configMap := s.ref("ConfigMap", "a")
	for range 2 { // nothing is remembered of a state that was not stored
		s.run(crud.CreateOrUpdate(s.configMap("a", map[string]string{"k": "2"})), crud.Updated)
	}
	s.run(crud.MergePatch(configMap, `{"data":{"k":"2"}}`), crud.Updated)
	s.run(crud.JSONPatch(configMap, `[{"op":"replace","path":"/data/k","value":"2"}]`), crud.Updated)
	s.run(crud.JQPatch(configMap, `.data.k = "2"`), crud.Updated)
	s.run(crud.EnsureDeleted(configMap), crud.Deleting)
	s.run(crud.Create(s.configMap("b", nil)), crud.Created)
	if after := s.get(configMaps, "a").GetResourceVersion(); after != before {
		t.Errorf("the resourceVersion changed from %s to %s", before, after)
	}
	if list, err := other.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=b"}); err != nil || len(list.Items) != 0 {
		t.Errorf("the dry run created an object: %v", err)
	}
}
