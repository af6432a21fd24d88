/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operatorconfig

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/pkg/apis/config"
)

// saysDefaults is what an example says whose values are the defaults.
const saysDefaults = "The values are the defaults"

// shipped are the config maps in config/, by name.
func shipped(t *testing.T) map[string]*corev1.ConfigMap {
	t.Helper()
	files, err := filepath.Glob("../../config/config-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("finding config/config-*.yaml: %v, %v", files, err)
	}
	cms := map[string]*corev1.ConfigMap{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cm := &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(content, cm); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		if want := strings.TrimSuffix(filepath.Base(file), ".yaml"); cm.Name != want {
			t.Errorf("%s holds the config map %q", file, cm.Name)
		}
		cms[cm.Name] = cm
	}
	return cms
}

// parse reads data as the process does that reads the config map of that name.
func parse(t *testing.T, name string, data map[string]string) (any, error) {
	t.Helper()
	cm := &corev1.ConfigMap{Data: data}
	cm.Name = name
	results := reflect.ValueOf(Parsers()[name]).Call([]reflect.Value{reflect.ValueOf(cm)})
	err, _ := reflect.TypeAssert[error](results[1])
	return results[0].Interface(), err
}

// exampleOf is what a config map holds once every key of its example is set.
func exampleOf(t *testing.T, cm *corev1.ConfigMap) map[string]string {
	t.Helper()
	data := map[string]string{}
	if err := yaml.UnmarshalStrict([]byte(cm.Data[configmap.ExampleKey]), &data); err != nil {
		t.Fatalf("_example cannot be copied out of its block: %v", err)
	}
	if len(data) == 0 {
		t.Fatal("_example shows no key")
	}
	return data
}

func TestEveryShippedConfigMapIsChecked(t *testing.T) {
	cms := shipped(t)
	for name := range cms {
		if _, ok := Parsers()[name]; !ok {
			t.Errorf("Parsers() lacks %s, which config/ ships", name)
		}
	}
	for name := range Parsers() {
		if _, ok := cms[name]; !ok {
			t.Errorf("config/ lacks %s, which a process reads", name)
		}
	}
}

func TestShippedConfigMapsParse(t *testing.T) {
	for name, cm := range shipped(t) {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(t, name, cm.Data); err != nil {
				t.Errorf("the data: %v", err)
			}
			if _, err := parse(t, name, exampleOf(t, cm)); err != nil {
				t.Errorf("the _example: %v", err)
			}
		})
	}
}

func TestExamplesThatSaySoShowTheDefaults(t *testing.T) {
	for name, cm := range shipped(t) {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(strings.ReplaceAll(cm.Data[configmap.ExampleKey], "\n# ", " "), saysDefaults) {
				return
			}
			example, err := parse(t, name, exampleOf(t, cm))
			if err != nil {
				t.Fatal(err)
			}
			defaults, err := parse(t, name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(defaults, example, cmpopts.IgnoreUnexported(config.Addressable{})); diff != "" {
				t.Errorf("-defaults, +example:\n%s", diff)
			}
		})
	}
}

// The webhook refuses a change of _example by the checksum, for who edits there
// has meant to set something.
func TestExampleChecksums(t *testing.T) {
	for name, cm := range shipped(t) {
		want := configmap.Checksum(cm.Data[configmap.ExampleKey])
		if got := cm.Annotations[configmap.ExampleChecksumAnnotation]; got != want {
			t.Errorf("config/%s.yaml: annotation %s is %q, want %q", name, configmap.ExampleChecksumAnnotation, got, want)
		}
	}
}

// The example of config-addressable is its reference, so it has to be complete.
func TestExampleShowsEveryKeyOfConfigAddressable(t *testing.T) {
	example := exampleOf(t, shipped(t)[config.AddressableName])
	_, err := config.NewAddressableFromConfigMap(&corev1.ConfigMap{Data: map[string]string{"unknown": ""}})
	if err == nil {
		t.Fatal("an unknown key was accepted")
	}
	_, keys, found := strings.Cut(err.Error(), "the keys are ")
	if !found {
		t.Fatalf("the message %q does not list the keys", err)
	}
	for key := range strings.SplitSeq(keys, ", ") {
		if _, ok := example[key]; !ok {
			t.Errorf("_example does not show %s", key)
		}
	}
}

// The parser of config-logging does not look into the JSON; a logger that cannot
// be built would only show as another format of the log.
func TestExampleOfConfigLoggingMakesALogger(t *testing.T) {
	example := exampleOf(t, shipped(t)["config-logging"])
	decoder := json.NewDecoder(strings.NewReader(example["zap-logger-config"]))
	decoder.DisallowUnknownFields()
	var cfg zap.Config
	if err := decoder.Decode(&cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Build(); err != nil {
		t.Error(err)
	}
}

// The parsers of knative.dev/pkg say what is wrong with a value, but not always of which key.
func TestRefusalsNameTheConfigMapAndTheKey(t *testing.T) {
	for name, tc := range map[string]struct {
		configMap string
		data      map[string]string
		want      string
	}{
		"one bad key":             {"config-observability", map[string]string{"metrics-protocol": "pigeon"}, `metrics-protocol: unsupported protocol "pigeon"`},
		"a bad key beside others": {"config-logging", map[string]string{"loglevel.controller": "info", "loglevel.webhook": "chatty", "zap-logger-config": "{}"}, "loglevel.webhook: invalid logging level: chatty"},
		"unknown process":         {"config-logging", map[string]string{"loglevel.controller": "info", "loglevel.controler": "debug"}, "loglevel.controler: unknown key; the keys are loglevel.controller, loglevel.webhook, zap-logger-config"},
		"level of no process":     {"config-logging", map[string]string{"loglevel": "debug"}, "loglevel: unknown key; the keys are loglevel.controller, loglevel.webhook, zap-logger-config"},
		"lease too short":         {"config-leader-election", map[string]string{"lease-duration": "5s"}, "lease-duration: "},
		"no room for writes":      {"config-leader-election", map[string]string{"lease-duration": "12s", "renew-deadline": "10s", "retry-period": "1s"}, "lease-duration: "},
		"too many":                {"config-leader-election", map[string]string{"lease-duration": "15s", "buckets": "11"}, "buckets: must be a number from 1 to 10, not 11"},
		"no bucket":               {"config-leader-election", map[string]string{"lease-duration": "15s", "buckets": "0"}, "buckets: must be a number from 1 to 10, not 0"},
		"no JSON":                 {"config-logging", map[string]string{"zap-logger-config": "{"}, "zap-logger-config: must be the JSON of a zap configuration"},
		"no logger":               {"config-logging", map[string]string{"zap-logger-config": `{"encoding": "smoke"}`}, "zap-logger-config: makes no zap logger"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, tc.configMap, tc.data)
			if want := "config map " + tc.configMap + ": " + tc.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got error %v, want one that begins with %q", err, want)
			}
		})
	}
}

func TestARefusalOfKeysTogetherNamesTheConfigMap(t *testing.T) {
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
	if want := "config map config-pairs: one of a and b"; !errors.Is(err, together) || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// The webhook is not the process that the output is for.
func TestCheckingALoggerOpensNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if _, err := parse(t, "config-logging", map[string]string{"zap-logger-config": `{"outputPaths": ["` + path + `"]}`}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: got %v, want it not to exist", path, err)
	}
}

func TestCheckSaysWhatTheParserSays(t *testing.T) {
	cm := &corev1.ConfigMap{Data: map[string]string{"scheme": "ftp"}}
	for name, want := range map[string]string{
		config.AddressableName: "config map config-addressable: scheme: must be http or https",
		"config-of-others":     "",
	} {
		cm.Name = name
		err := Check(cm)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
}
