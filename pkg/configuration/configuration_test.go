/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package configuration

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/pkg/apis/config/strict"
)

var parsers = Parsers()

// parse validates data as the webhook does.
func parse(t *testing.T, name string, data map[string]string) (any, error) {
	t.Helper()
	return newParsed(&corev1.ConfigMap{Data: data}, name)
}

func newParsed(cm *corev1.ConfigMap, name string) (any, error) {
	cm.Name = name
	results := reflect.ValueOf(parsers[name]).Call([]reflect.Value{reflect.ValueOf(cm)})
	err, _ := reflect.TypeAssert[error](results[1])
	return results[0].Interface(), err
}

// invalid are ConfigMaps whose single mistake is not in the key that a parser of knative.dev/pkg blames, or in no key that it knows. The tests of
// docs/reference/configuration.md have all keys.
var invalid = map[string]struct {
	configMap string
	data      map[string]string
	want      string
}{
	"MetricsAreValid": {
		"config-observability",
		map[string]string{"metrics-protocol": "grpc", "metrics-endpoint": "http://c.example.com:4317", "tracing-sampling-rate": "2"},
		`tracing-sampling-rate: must be a number from 0 to 1 such as 0.1, not "2"`,
	},
	"TracingIsValid": {
		"config-observability",
		map[string]string{"tracing-protocol": "grpc", "tracing-endpoint": "http://c.example.com:4317", "tracing-sampling-rate": "x"},
		`tracing-sampling-rate: must be a number from 0 to 1 such as 0.1, not "x"`,
	},
	"ProfilingOn": {
		"config-observability",
		map[string]string{"metrics-protocol": "grpc", "metrics-endpoint": "http://c.example.com:4317", "runtime-profiling": "on"},
		`runtime-profiling: must be enabled or disabled, not "on"`,
	},
	"EndpointWithPrometheus": {
		"config-observability",
		map[string]string{"metrics-protocol": "prometheus", "metrics-endpoint": "http://c.example.com:4317"},
		`metrics-endpoint: must be set if metrics-protocol is grpc or http/protobuf, and only then; it is "http://c.example.com:4317", and the protocol "prometheus"`,
	},
	"Misspelled": {
		"config-observability", map[string]string{"metric-protocol": "grpc"}, "metric-protocol: unknown key (did you mean metrics-protocol?)",
	},
	"PartOfAKey": {"config-observability", map[string]string{"endpoint": "http://c"}, "endpoint: unknown key (did you mean metrics-endpoint?)"},
	"LeaseTooShort": {
		"config-leader-election",
		map[string]string{"lease-duration": "10s", "renew-deadline": "10s", "retry-period": "2s"},
		"lease-duration: must be longer than renew-deadline, which is 10s, not 10s",
	},
	"NoRetry": {
		"config-leader-election",
		map[string]string{"renew-deadline": "12s"},
		"renew-deadline: must be longer than 12s, which is the largest jitter of retry-period, not 12s",
	},
	"Plural": {
		"config-leader-election", map[string]string{"lease-durations": "5s"}, "lease-durations: unknown key (did you mean lease-duration?)",
	},
	"NoUnit":      {"config-leader-election", map[string]string{"lease-duration": "15"}, "lease-duration: must be "},
	"Singular":    {"config-leader-election", map[string]string{"bucket": "2"}, "bucket: unknown key (did you mean buckets?)"},
	"RemovedKey":  {"config-leader-election", map[string]string{"resourceLock": "leases"}, "resourceLock: unknown key; the keys are buckets, lease-duration, "},
	"LegacyKey":   {"config-leader-election", map[string]string{"leaseDuration": "15s"}, "leaseDuration: unknown key (did you mean lease-duration?)"},
	"NoProcess":   {"config-logging", map[string]string{"loglevel": "debug"}, "loglevel: unknown key (did you mean loglevel."},
	"OtherLevels": {"config-logging", map[string]string{"loglevel.controller": "INFO", "loglevel.webhook": "chatty"}, "loglevel.webhook: must be debug, "},
	"TwoMistakes": {
		"config-logging",
		map[string]string{"loglevel.controler": "info", "zap-logger-config": "{"},
		"loglevel.controler: unknown key (did you mean loglevel.controller?); the keys are " +
			strings.Join(slices.Sorted(maps.Keys(loggingRules())), ", ") + "\n" +
			`zap-logger-config: must be the JSON of a zap configuration such as {"level": "info"}, not "{": unexpected EOF`,
	},
}

func TestConfigMaps_InvalidKeyAmongValidOnes_IsTheOnlyOneNamed(t *testing.T) {
	for name, tc := range invalid {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, tc.configMap, tc.data)
			if want := "ConfigMap " + tc.configMap + ": " + tc.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want one that begins with %q", err, want)
			}
		})
	}
}

func TestConfigMaps_KeyInBinaryData_IsRejected(t *testing.T) {
	_, err := newParsed(&corev1.ConfigMap{BinaryData: map[string][]byte{"buckets": []byte("2")}}, "config-leader-election")
	if want := "ConfigMap config-leader-election: buckets: must be in data, not in binaryData"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// The parsers of knative.dev/pkg must not read a key that ours reject.
func TestConfigMaps_EachKeyOfKnative_IsKnown(t *testing.T) {
	// They are the old names of others, which the shipped ConfigMap sets, so that they would have no effect.
	legacy := []string{"leaseDuration", "renewDeadline", "retryPeriod"}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "knative.dev/pkg").Output()
	if err != nil {
		t.Fatal(err)
	}
	read := regexp.MustCompile(`(?:As\w*|WithPrefix)\((?:prefix ?\+ ?)?"([^"]+)"`)
	for file, rules := range map[string]strict.Rules{
		"leaderelection/config.go": leaderElectionRules, "observability/metrics/config.go": observabilityRules,
		"observability/tracing/config.go": observabilityRules, "observability/runtime/config.go": observabilityRules,
	} {
		content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), file))
		keys := read.FindAllSubmatch(content, -1)
		if err != nil || len(keys) == 0 {
			t.Errorf("%s: %d keys: %v", file, len(keys), err)
		}
		for _, match := range keys {
			key := string(match[1])
			if rules[key] == nil && rules[key+".NAME"] == nil && !slices.Contains(legacy, key) {
				t.Errorf("%s reads %s, which has no rule", file, key)
			}
		}
	}
}

// The webhook is not the process that the output is for.
func TestConfigMaps_Logger_OpensNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if _, err := parse(t, "config-logging", map[string]string{"zap-logger-config": `{"outputPaths": ["` + path + `"]}`}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: got %v, want it not to exist", path, err)
	}
}
