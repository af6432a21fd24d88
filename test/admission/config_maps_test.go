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

// settings are changes of the operator's ConfigMaps. Rejected ones have the parts of the message, accepted ones none. The unit tests of
// docs/reference/configuration.md have all keys.
var settings = map[string]struct {
	configMap string
	data      map[string]string
	says      []string
}{
	"Domain":     {config.AddressableName, map[string]string{"domain": "example.org"}, nil},
	"Scheme":     {config.AddressableName, map[string]string{"scheme": "ftp"}, []string{"scheme: must be http or https, not \"ftp\""}},
	"Domian":     {config.AddressableName, map[string]string{"domian": "example.org"}, []string{"domian: unknown key (did you mean domain?); the keys are "}},
	"Level":      {"config-logging", map[string]string{"loglevel.controller": "debug"}, nil},
	"NoLevel":    {"config-logging", map[string]string{"loglevel.controller": "chatty"}, []string{"loglevel.controller: must be debug, ", "chatty"}},
	"Controler":  {"config-logging", map[string]string{"loglevel.controler": "debug"}, []string{"loglevel.controler: unknown key (did you mean loglevel.controller?)"}},
	"NoLogger":   {"config-logging", map[string]string{"zap-logger-config": `{"encoding": "smoke"}`}, []string{"zap-logger-config: ", "smoke"}},
	"Buckets":    {"config-leader-election", map[string]string{"buckets": "10", "lease-duration": "20s", "map-lease-prefix.a.b": "c"}, nil},
	"NoBuckets":  {"config-leader-election", map[string]string{"buckets": "0"}, []string{"buckets: must be a whole number from 1 to 10 such as 2, not \"0\""}},
	"Durations":  {"config-leader-election", map[string]string{"lease-durations": "5s"}, []string{"lease-durations: unknown key (did you mean lease-duration?)"}},
	"ShortLease": {"config-leader-election", map[string]string{"lease-duration": "10s"}, []string{"lease-duration: must be longer than renew-deadline, which is 10s, not 10s"}},
	"Sampling":   {"config-observability", map[string]string{"tracing-protocol": "stdout", "tracing-sampling-rate": "0.5"}, nil},
	"RateOf2": {
		"config-observability",
		map[string]string{"metrics-protocol": "grpc", "metrics-endpoint": "http://c.example.com:4317", "tracing-sampling-rate": "2"},
		[]string{"ConfigMap config-observability: tracing-sampling-rate: must be a number from 0 to 1 such as 0.1, not \"2\""},
	},
	"NoEndpoint": {"config-observability", map[string]string{"metrics-protocol": "grpc"}, []string{"metrics-endpoint: must be set if metrics-protocol is grpc"}},
	"Misspelled": {"config-observability", map[string]string{"metric-protocol": "grpc"}, []string{"metric-protocol: unknown key (did you mean metrics-protocol?)"}},
}

func TestConfigWebhook_InvalidKey_IsRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for name, s := range settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkMessage(t, tryUpdate(t, env, s.configMap, func(cm *corev1.ConfigMap) { maps.Copy(cm.Data, s.data) }), s.says)
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
