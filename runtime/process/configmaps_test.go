/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
)

// parsers are those of an operator with its own ConfigMap.
var parsers = NewParsers(configmap.Constructors{"config-duck": func(cm *corev1.ConfigMap) (string, error) {
	if cm.Data["color"] == "" {
		return "", errors.New("ConfigMap config-duck: color: must be set")
	}
	return cm.Data["color"], nil
}}, "controller", "webhook")

// parse reads data as the process does that reads the ConfigMap of that name.
func parse(t *testing.T, name string, data map[string]string) (any, error) {
	t.Helper()
	cm := &corev1.ConfigMap{Data: data}
	cm.Name = name
	results := reflect.ValueOf(parsers[name]).Call([]reflect.Value{reflect.ValueOf(cm)})
	err, _ := reflect.TypeAssert[error](results[1])
	return results[0].Interface(), err
}

// The parsers of knative.dev/pkg describe the fault of a value, but do not always name the key.
func TestCheck_InvalidValue_NamesConfigMapAndKey(t *testing.T) {
	for name, tc := range map[string]struct {
		configMap string
		data      map[string]string
		want      string
	}{
		"one bad key":            {"config-observability", map[string]string{"metrics-protocol": "pigeon"}, `metrics-protocol: unsupported protocol "pigeon"`},
		"a bad key among others": {"config-logging", map[string]string{"loglevel.controller": "info", "loglevel.webhook": "chatty", "zap-logger-config": "{}"}, "loglevel.webhook: invalid logging level: chatty"},
		"unknown process":        {"config-logging", map[string]string{"loglevel.controller": "info", "loglevel.controler": "debug"}, "loglevel.controler: unknown key; the keys are loglevel.controller, loglevel.webhook, zap-logger-config"},
		"level of no process":    {"config-logging", map[string]string{"loglevel": "debug"}, "loglevel: unknown key; the keys are loglevel.controller, loglevel.webhook, zap-logger-config"},
		"lease too short":        {"config-leader-election", map[string]string{"lease-duration": "5s"}, "lease-duration: "},
		"no room for writes":     {"config-leader-election", map[string]string{"lease-duration": "12s", "renew-deadline": "10s", "retry-period": "1s"}, "lease-duration: "},
		"too many":               {"config-leader-election", map[string]string{"lease-duration": "15s", "buckets": "11"}, "buckets: must be a number from 1 to 10, not 11"},
		"no bucket":              {"config-leader-election", map[string]string{"lease-duration": "15s", "buckets": "0"}, "buckets: must be a number from 1 to 10, not 0"},
		"no JSON":                {"config-logging", map[string]string{"zap-logger-config": "{"}, "zap-logger-config: must be the JSON of a zap configuration"},
		"no logger":              {"config-logging", map[string]string{"zap-logger-config": `{"encoding": "smoke"}`}, "zap-logger-config: makes no zap logger"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, tc.configMap, tc.data)
			if want := "ConfigMap " + tc.configMap + ": " + tc.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want one that begins with %q", err, want)
			}
		})
	}
}

func TestCheck_InvalidCombination_NamesTheConfigMap(t *testing.T) {
	together := errors.New("one of a and b")
	parse := namingKey(func(cm *corev1.ConfigMap) (int, error) {
		if len(cm.Data) > 1 {
			return 0, together
		}
		return 0, nil
	})
	cm := &corev1.ConfigMap{Data: map[string]string{"a": "1", "b": "2"}}
	cm.Name = "config-pairs"
	_, err := parse(cm)
	if want := "ConfigMap config-pairs: one of a and b"; !errors.Is(err, together) || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// The webhook is not the process that the output is for.
func TestCheck_Logger_OpensNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if _, err := parse(t, "config-logging", map[string]string{"zap-logger-config": `{"outputPaths": ["` + path + `"]}`}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: got %v, want it not to exist", path, err)
	}
}

func TestCheck_AnyConfigMap_AgreesWithTheParser(t *testing.T) {
	cm := &corev1.ConfigMap{Data: map[string]string{"shade": "green"}}
	for name, want := range map[string]string{
		"config-duck":      "ConfigMap config-duck: color: must be set",
		"config-of-others": "",
	} {
		cm.Name = name
		err := parsers.Check(cm)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
}
