/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestParseConfig_AllFields_AreThoseOfShellOperator(t *testing.T) {
	const text = `
configVersion: v1
onStartup: 10
settings: {executionMinInterval: 3s, executionBurst: 2, timeout: 1m, namespaces: [a], runOnOwnWrites: true}
schedule:
- {name: often, crontab: "*/5 * * * * *", queue: q, allowFailure: true, includeSnapshotsFrom: [pods], group: g}
- {name: every, crontab: "@every 15s"}
- {name: zone, crontab: "CRON_TZ=Europe/Berlin */1 * * * * *"}
kubernetes:
- name: pods
  apiVersion: v1
  kind: Pod
  executeHookOnEvent: [Added]
  executeHookOnSynchronization: false
  waitForSynchronization: false
  keepFullObjectsInMemory: false
  resynchronizationPeriod: 1h
  nameSelector: {matchNames: [a, b]}
  labelSelector: {matchLabels: {app: it}, matchExpressions: [{key: tier, operator: In, values: [front]}]}
  fieldSelector: {matchExpressions: [{field: status.phase, operator: Equals, value: Running}]}
  namespace: {nameSelector: {matchNames: [default]}}
  jqFilter: .metadata.labels
kubernetesValidating:
- name: a.example.com
  includeSnapshotsFrom: [pods]
  group: g
  labelSelector: {matchLabels: {app: it}}
  namespace: {labelSelector: {matchLabels: {app: it}}}
  rules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE], scope: Namespaced}]
  matchConditions: [{name: a, expression: "true"}]
  failurePolicy: Ignore
  sideEffects: None
  timeoutSeconds: 3
kubernetesMutating:
- name: a.example.com
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: ["*"]}]
`
	want := Bindings{
		OnStartup: new(10),
		Settings: Settings{
			ExecutionMinInterval: metav1.Duration{Duration: 3 * time.Second}, ExecutionBurst: 2, Timeout: metav1.Duration{Duration: time.Minute},
			Namespaces: []string{"a"}, RunOnOwnWrites: true,
		},
		Schedule: []Schedule{{
			Common:  Common{Name: "often", Queue: "q", AllowFailure: true, IncludeSnapshotsFrom: []string{"pods"}, Group: "g"},
			Crontab: "*/5 * * * * *",
		}, {
			Common: Common{Name: "every", Queue: "main"}, Crontab: "@every 15s",
		}, {
			Common: Common{Name: "zone", Queue: "main"}, Crontab: "CRON_TZ=Europe/Berlin */1 * * * * *",
		}},
		Kubernetes: []Kubernetes{{
			Common: Common{Name: "pods", Queue: "main"}, APIVersion: "v1", Kind: "Pod", ExecuteHookOnEvent: []WatchEvent{Added},
			ExecuteHookOnSynchronization: new(false), WaitForSynchronization: new(false), KeepFullObjectsInMemory: new(false),
			ResynchronizationPeriod: "1h", NameSelector: &NameSelector{[]string{"a", "b"}},
			LabelSelector: &metav1.LabelSelector{
				MatchLabels:      map[string]string{"app": "it"},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "In", Values: []string{"front"}}},
			},
			FieldSelector: &FieldSelector{[]FieldExpression{{"status.phase", "Equals", "Running"}}},
			Namespace:     &NamespaceSelector{NameSelector: &NameSelector{[]string{"default"}}}, JQFilter: ".metadata.labels",
		}},
		Validating: []Admission{{
			Name: "a.example.com", IncludeSnapshotsFrom: []string{"pods"}, Group: "g",
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "it"}},
			Namespace:     &NamespaceSelector{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "it"}}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"CREATE"},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}, Scope: new(admissionregistrationv1.NamespacedScope),
				},
			}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "a", Expression: "true"}},
			FailurePolicy:   "Ignore", SideEffects: "None", TimeoutSeconds: 3,
		}},
		Mutating: []Admission{{
			Name: "a.example.com",
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"*"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			FailurePolicy: "Fail", SideEffects: "None", TimeoutSeconds: 10,
		}},
	}
	got, err := parseConfig([]byte(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n-want, +got:\n%s", err, diff)
	}
}

// kubectl reads each of the texts as the same object, since it decodes YAML 1.1.
func TestParseConfig_YAML_MeansWhatItMeansToKubectl(t *testing.T) {
	const plain = "configVersion: v1\nonStartup: 8\nkubernetes:\n- kind: Pod\n  allowFailure: true\n  executeHookOnSynchronization: false\n"
	want, err := parseConfig([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"yes and no":                  "configVersion: v1\nonStartup: 8\nkubernetes: [{kind: Pod, allowFailure: yes, executeHookOnSynchronization: no}]\n",
		"on and off":                  "configVersion: v1\nonStartup: 8\nkubernetes: [{kind: Pod, allowFailure: on, executeHookOnSynchronization: Off}]\n",
		"an octal number":             strings.Replace(plain, "8", "010", 1),
		"a hexadecimal number":        strings.Replace(plain, "8", "0x8", 1),
		"a float":                     strings.Replace(plain, "8", "8.0", 1),
		"an anchor and an alias":      "configVersion: v1\nonStartup: &n 8\nkubernetes: [{kind: Pod, allowFailure: &a true, executeHookOnSynchronization: off}]\n",
		"a merged object":             "configVersion: v1\nonStartup: 8\nkubernetes: [{<<: {kind: Pod, allowFailure: true}, executeHookOnSynchronization: false}]\n",
		"a byte order mark":           "\ufeff" + plain,
		"CRLF":                        strings.ReplaceAll(plain, "\n", "\r\n"),
		"a byte order mark and CRLF":  "\ufeff" + strings.ReplaceAll(plain, "\n", "\r\n"),
		"the beginning of a document": "---\n" + plain,
		"the end of a document":       plain + "...\n",
		"an empty document after it":  plain + "---\n# nothing\n",
		"a comment before it":         "# bindings\n---\n" + plain,
		"JSON":                        `{"configVersion": "v1", "onStartup": 8, "kubernetes": [{"kind": "Pod", "allowFailure": true, "executeHookOnSynchronization": false}]}`,
	} {
		got, err := parseConfig([]byte(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n-want, +got:\n%s", name, err, diff)
		}
	}
}

func TestLoad_ScriptWithCRLF_NamesTheInterpreter(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:/bin") // a folder that the user cannot read changes the error
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "windows"), []byte("#!/usr/bin/env bash\r\necho 'configVersion: v1'\r\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), folder, Options{Folder: t.TempDir()})
	if want := "/windows: running it with --config: exit status 127: "; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "bash") {
		t.Errorf("the error is %v, want %q and bash", err, want)
	}
}

func TestLoad_TwoDocuments_NamesTheFile(t *testing.T) {
	folder := t.TempDir()
	script := "#!/bin/sh\nprintf 'configVersion: v1\\nonStartup: 1\\n---\\nschedule: [{crontab: \"@daily\"}]\\n'\n"
	if err := os.WriteFile(filepath.Join(folder, "two.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), folder, Options{Folder: t.TempDir()})
	if want := "hook " + filepath.Join(folder, "two.sh") + ": its bindings: it has more than one YAML document"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

func TestParseConfig_Mistake_NamesTheField(t *testing.T) {
	for text, want := range map[string]string{
		"":     "print configVersion: v1",
		"a: [": "reading it as YAML",
		"{configVersion: v1, onStartup: 1}\n---\nkubernetes: [{kind: Pod}]\n":    "it has more than one YAML document",
		"{configVersion: v1, onStartup: 1}\n--- # the second one\n\n---\na: b\n": "it has more than one YAML document",
		"{configVersion: v1, onStartup: 1}\n---\na: [\n":                         "it has more than one YAML document",
		"onStartup: 1":                                   `configVersion: it must be v1, not ""`,
		"{configVersion: v1, configVersion: v1}":         `"configVersion" already set`,
		"{configVersion: v1}":                            "there is no binding",
		"{configVersion: v1, onStartup: first}":          "onStartup",
		"{configVersion: v1, onStartup: 1, setings: {}}": "unknown field \"setings\"",
		"{configVersion: v1, kubernetes: [{kind: Pod, namespace: {labelselector: {}}}]}":       `unknown field "kubernetes[0].namespace.labelselector"`,
		"{configVersion: v1, kubernetes: [{}]}":                                                "kubernetes[0].kind: Required value",
		"{configVersion: v1, kubernetes: [{kind: Pod}, {kind: Pod}]}":                          `kubernetes[1].name: Duplicate value: "kubernetes"`,
		"{configVersion: v1, kubernetes: [{kind: Pod, jqFilter: '.['}]}":                       "kubernetes[0].jqFilter: ",
		"{configVersion: v1, kubernetes: [{kind: Pod, executeHookOnEvent: [Changed]}]}":        `kubernetes[0].executeHookOnEvent: Unsupported value: "Changed": supported values: "Added", "Modified", "Deleted"`,
		"{configVersion: v1, kubernetes: [{kind: Pod, includeSnapshotsFrom: [kubernets]}]}":    `kubernetes[0].includeSnapshotsFrom: Unsupported value: "kubernets": supported values: "kubernetes"`,
		"{configVersion: v1, kubernetes: [{kind: P, labelSelector: {matchLabels: {'/': a}}}]}": "kubernetes[0].labelSelector.matchLabels: Invalid value",
		"{configVersion: v1, schedule: [{crontab: 61 * * * *}]}":                               "schedule[0].crontab: ",
		"{configVersion: v1, onStartup: 1, kubernetesCustomResourceConversion: [{}]}":          `unknown field "kubernetesCustomResourceConversion"`,
		"{configVersion: v1, kubernetesValidating: [{name: a.b}]}":                             "kubernetesValidating[0].name: Invalid value",
		"{configVersion: v1, kubernetesMutating: [{name: a.b.c}]}":                             "kubernetesMutating[0].rules: Required value",
	} {
		if _, err := parseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", text, err, want)
		}
	}
}

func TestParseConfig_AdmissionMistake_NamesTheField(t *testing.T) {
	for change, want := range map[string]string{
		"sideEffects: NoneOnDryRun":                           `sideEffects: Unsupported value: "NoneOnDryRun": supported values: "None"`,
		"failurePolicy: Retry":                                `failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"`,
		"timeoutSeconds: 31":                                  "timeoutSeconds: Invalid value: ",
		"timeoutSeconds: -1":                                  "timeoutSeconds: Invalid value: ",
		"queue: main":                                         `queue"`,
		"failurePolice: Fail":                                 `failurePolice"`,
		"includeSnapshotsFrom: [pods]":                        `includeSnapshotsFrom: Unsupported value: "pods"`,
		"labelSelector: {matchLabels: {'/': a}}":              "labelSelector.matchLabels: Invalid value",
		"namespace: {labelSelector: {matchLabels: {'/': a}}}": "namespace.labelSelector.matchLabels: Invalid value",
		"namespace: {labelSelector: {}, nameSelector: {matchNames: []}}":                     "namespace: Forbidden: use either nameSelector or labelSelector",
		"rules: [{apiGroup: [a]}]":                                                           `rules[0].apiGroup"`,
		"rules: [{apiGroups: [a], apiVersions: [v1], resources: [b]}]":                       "rules[0]: Required value: apiGroups, apiVersions, resources and operations must not be empty",
		"rules: [{apiGroups: [a], apiVersions: [v1], resources: [b], operations: [create]}]": `rules[0].operations: Unsupported value: "create": supported values: "*", "CREATE"`,
	} {
		rules := "rules: [{apiGroups: [a], apiVersions: [v1], resources: [b], operations: [CREATE]}]"
		if strings.HasPrefix(change, "rules") {
			rules = "group: g"
		}
		text := "{configVersion: v1, kubernetesMutating: [{name: a.b.c, " + rules + ", " + change + "}]}"
		if _, err := parseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), "kubernetesMutating[0]."+want) {
			t.Errorf("%q: the error is %v, want %q", text, err, want)
		}
	}
}

func TestOperation_WrongCall_SaysWhatIsValid(t *testing.T) {
	for want, args := range map[string][]string{
		"KIND and NAME are missing": {"EnsureDeleted", "Pod"},
		"too many arguments":        {"EnsureDeleted", "Pod", "a", "b"},
		"unknown flag":              {"EnsureDeleted", "--nam", "a", "Pod", "b"},
		"--arg must be NAME=VALUE":  {"MergePatch", "--arg", "a", "Pod", "a", "{}"},
		"did you mean":              {"EnsureDeletd", "Pod", "a"},
		"several documents":         {"Create", "a: b\n---\nc: d\n"},
		"parsing the jq program":    {"MergePatch", "--arg", "a=b", "Pod", "a", "{"},
	} {
		if line, err := Operation(args, strings.NewReader("{}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v, want %q", args, line, err, want)
		}
	}
}

func TestOptions_MetricPrefixIsNoName_IsRejected(t *testing.T) {
	h := Func("h", Bindings{OnStartup: new(1)}, nil)
	for prefix, valid := range map[string]bool{"": true, "shop_": true, "shop": true, "1": false, "shop-": false, "a b": false} {
		_, err := NewController(Options{MetricPrefix: MetricPrefix(prefix)}, h)
		_, errOfReviews := Reviews(Options{MetricPrefix: MetricPrefix(prefix)}, h)
		for _, err := range []error{err, errOfReviews} {
			if (err == nil) != valid || err != nil && !strings.Contains(err.Error(), "MetricPrefix: ") {
				t.Errorf("%q: %v", prefix, err)
			}
		}
	}
}
