/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cmd

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/pkg/configuration"
)

// parsers are those of the webhook, and atStart those of a process, by the names of the ConfigMaps.
var parsers, atStart = configuration.Parsers(), configuration.AtStart()

// saysDefaults is the remark of an example whose values are the defaults.
const saysDefaults = "The values are the defaults"

// shipped are the ConfigMaps in config/, by name.
func shipped(t *testing.T) map[string]*corev1.ConfigMap {
	t.Helper()
	files, err := filepath.Glob("../config/config-*.yaml")
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
			t.Errorf("%s holds the ConfigMap %q", file, cm.Name)
		}
		cms[cm.Name] = cm
	}
	return cms
}

// parse validates data as the webhook does.
func parse(t *testing.T, name string, data map[string]string) (any, error) {
	t.Helper()
	return parseWith(parsers[name], name, data)
}

func parseWith(parser any, name string, data map[string]string) (any, error) {
	cm := &corev1.ConfigMap{Data: data}
	cm.Name = name
	results := reflect.ValueOf(parser).Call([]reflect.Value{reflect.ValueOf(cm)})
	err, _ := reflect.TypeAssert[error](results[1])
	return results[0].Interface(), err
}

// exampleOf returns a ConfigMap in which every key of its example is set.
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

func TestConfigMaps_EachShipped_IsValidatedByTheWebhook(t *testing.T) {
	cms := shipped(t)
	for name := range cms {
		if _, ok := parsers[name]; !ok {
			t.Errorf("parsers lacks %s, which config/ ships", name)
		}
	}
	for name := range parsers {
		if _, ok := cms[name]; !ok {
			t.Errorf("config/ lacks %s, which a process reads", name)
		}
	}
}

func TestConfigMaps_Shipped_Parse(t *testing.T) {
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

func TestConfigMaps_ExamplesThatClaimIt_ShowTheDefaults(t *testing.T) {
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
			if diff := cmp.Diff(defaults, example); diff != "" {
				t.Errorf("-defaults, +example:\n%s", diff)
			}
		})
	}
}

// The webhook rejects a change of _example by the checksum, for who edits there
// has meant to set something.
func TestConfigMaps_ExampleChecksum_MatchesTheExample(t *testing.T) {
	for name, cm := range shipped(t) {
		want := configmap.Checksum(cm.Data[configmap.ExampleKey])
		if got := cm.Annotations[configmap.ExampleChecksumAnnotation]; got != want {
			t.Errorf("config/%s.yaml: annotation %s is %q, want %q", name, configmap.ExampleChecksumAnnotation, got, want)
		}
	}
}
