/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/config"
)

// settings are values of the keys of the operator's ConfigMaps. Rejected ones say in which words, among them the key;
// accepted ones nothing.
var settings = []struct {
	configMap, key, value string
	says                  []string
}{
	{config.AddressableName, "domain", "Example.com", []string{"domain: ", "RFC 1123"}},
	{config.AddressableName, "domain", "", []string{"domain: ", "RFC 1123"}},
	{config.AddressableName, "domain", "example.org", nil},
	{config.AddressableName, "domain-template", "{{.Name", []string{"domain-template: ", "the placeholders are {{.Name}}, {{.Namespace}} and {{.Domain}}"}},
	{config.AddressableName, "domain-template", "{{.Name}}.{{.Nam}}", []string{"domain-template: ", "the placeholders are {{.Name}}, {{.Namespace}} and {{.Domain}}"}},
	{config.AddressableName, "domain-template", "{{.Name}}.{{.Domain}}", []string{"domain-template: ", "must use both {{.Name}} and {{.Namespace}}"}},
	{config.AddressableName, "domain-template", "{{.Name}}-{{.Namespace}}.{{.Domain}}", nil},
	{config.AddressableName, "scheme", "ftp", []string{"scheme: ", "must be http or https"}},
	{config.AddressableName, "scheme", "http", nil},
	{config.AddressableName, "directory-namespace", "a.b", []string{"directory-namespace: ", "must not contain dots"}},
	{config.AddressableName, "directory-namespace", "a-b", nil},
	{config.AddressableName, "default-class", "no class", []string{"default-class: ", "RFC 1123"}},
	{config.AddressableName, "default-class", "no-class", nil},
	{config.AddressableName, "allow-cross-namespace-references", "perhaps", []string{"allow-cross-namespace-references: ", "must be true or false"}},
	{config.AddressableName, "allow-cross-namespace-references", "true", nil},
	{config.AddressableName, "domian", "example.org", []string{"domian: ", "unknown key; the keys are "}},

	{"config-logging", "zap-logger-config", "{", []string{"zap-logger-config: "}},
	{"config-logging", "zap-logger-config", `{"encoding": "smoke"}`, []string{"zap-logger-config: ", "smoke"}},
	{"config-logging", "zap-logger-config", `{"encoding": "console"}`, nil},
	{"config-logging", "loglevel.controller", "chatty", []string{"loglevel.controller: ", "chatty"}},
	{"config-logging", "loglevel.controller", "debug", nil},
	{"config-logging", "loglevel.controler", "debug", []string{"loglevel.controler: unknown key; the keys are loglevel.controller, loglevel.webhook, "}},
	{"config-logging", "loglevel", "debug", []string{"loglevel: unknown key; the keys are "}},

	{"config-leader-election", "lease-duration", "soon", []string{"lease-duration: ", "soon"}},
	{"config-leader-election", "lease-duration", "20s", nil},
	{"config-leader-election", "renew-deadline", "soon", []string{"renew-deadline: ", "soon"}},
	{"config-leader-election", "retry-period", "soon", []string{"retry-period: ", "soon"}},
	{"config-leader-election", "buckets", "11", []string{"buckets: must be a number from 1 to 10, not 11"}},
	{"config-leader-election", "buckets", "0", []string{"buckets: must be a number from 1 to 10, not 0"}},
	{"config-leader-election", "buckets", "10", nil},

	{"config-observability", "metrics-protocol", "pigeon", []string{"metrics-protocol: ", "pigeon"}},
	{"config-observability", "metrics-protocol", "prometheus", nil},
	{"config-observability", "tracing-protocol", "pigeon", []string{"tracing-protocol: ", "pigeon"}},
	{"config-observability", "tracing-sampling-rate", "most", []string{"tracing-sampling-rate: ", "most"}},
	{"config-observability", "tracing-sampling-rate", "0.5", nil},
	{"config-observability", "runtime-profiling", "perhaps", []string{"runtime-profiling: ", "perhaps"}},
	{"config-observability", "runtime-profiling", "enabled", nil},
}

func TestConfigWebhook_InvalidKey_IsRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for _, s := range settings {
		t.Run(s.configMap+" "+s.key+"="+s.value, func(t *testing.T) {
			t.Parallel()
			checkMessage(t, tryUpdate(t, env, s.configMap, func(cm *corev1.ConfigMap) { cm.Data[s.key] = s.value }), s.says)
		})
	}
}

// tryUpdate sends a changed ConfigMap of the operator without storing it, because the operator and other tests live by it.
func tryUpdate(t *testing.T, env *harness.Env, name string, change func(*corev1.ConfigMap)) error {
	t.Helper()
	configMaps := env.Kube.CoreV1().ConfigMaps(env.SystemNamespace)
	cm, err := configMaps.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading ConfigMap %s: %v", name, err)
	}
	// Another test may change it concurrently.
	cm.ResourceVersion = ""
	change(cm)
	_, err = configMaps.Update(t.Context(), cm, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func TestConfigWebhook_ExampleModified_IsRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for _, name := range []string{config.AddressableName, "config-logging", "config-leader-election", "config-observability"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit := func(cm *corev1.ConfigMap) { cm.Data[configmap.ExampleKey] += "\ndomain: example.org\n" }
			checkMessage(t, tryUpdate(t, env, name, edit), []string{configmap.ExampleKey, "copy the respective setting"})
			checkMessage(t, tryUpdate(t, env, name, func(cm *corev1.ConfigMap) {
				edit(cm)
				cm.Annotations[configmap.ExampleChecksumAnnotation] = configmap.Checksum(cm.Data[configmap.ExampleKey])
			}), nil)
		})
	}
}

// Taking the label off must not be a way past the check.
func TestConfigWebhook_InvalidValueWithoutTheLabel_IsRejected(t *testing.T) {
	t.Parallel()
	err := tryUpdate(t, harness.Shared(t), config.AddressableName, func(cm *corev1.ConfigMap) {
		cm.Labels = nil
		cm.Data["scheme"] = "ftp"
	})
	checkMessage(t, err, []string{"scheme: "})
}

func TestConfigWebhook_OtherConfigMaps_AreNotValidated(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ours, err := env.Kube.CoreV1().ConfigMaps(env.SystemNamespace).Get(t.Context(), config.AddressableName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bad := maps.Clone(ours.Data)
	bad["scheme"] = "ftp"
	for name, cm := range map[string]*corev1.ConfigMap{
		"in another namespace": {ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: ours.Name, Labels: ours.Labels, Annotations: ours.Annotations}, Data: bad},
		"without the label":    {ObjectMeta: metav1.ObjectMeta{Namespace: env.SystemNamespace, GenerateName: "config-other-"}, Data: bad},
		"of another name":      {ObjectMeta: metav1.ObjectMeta{Namespace: env.SystemNamespace, GenerateName: "config-other-", Labels: ours.Labels}, Data: bad},
	} {
		_, err := env.Kube.CoreV1().ConfigMaps(cm.Namespace).Create(t.Context(), cm, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			t.Errorf("a ConfigMap %s is rejected: %v", name, err)
		}
	}
}
