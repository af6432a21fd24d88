/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"slices"
	"strings"
	"testing"

	"knative.dev/pkg/configmap"
)

func TestStore_NoConfigMapYet_HasTheDefaults(t *testing.T) {
	store := NewStore(&countingLogger{})
	if got := store.Load().Domain; got != "example.com" {
		t.Errorf("the domain is %q, want the default", got)
	}
}

func TestStore_InvalidConfigMap_KeepsTheLastValid(t *testing.T) {
	logger, stored := &countingLogger{}, []string{}
	store := NewStore(logger, func(name string, value any) {
		a, ok := value.(*Addressable)
		if !ok || name != AddressableName {
			t.Errorf("notified of %q with a %T", name, value)
			return
		}
		stored = append(stored, a.Domain)
	})
	watcher := &configmap.ManualWatcher{Namespace: "knative-samples"}
	store.WatchConfigs(watcher)

	watcher.OnChange(configMap(domainKey, "good.example.com"))
	watcher.OnChange(configMap(domainKey, "bad example"))
	if got := store.Load().Domain; got != "good.example.com" {
		t.Errorf("after a bad ConfigMap the domain is %q, want the last good one", got)
	}
	if len(logger.errors) != 1 || !strings.Contains(logger.errors[0], domainKey+": ") {
		t.Errorf("the log says %q, want one error that names the key", logger.errors)
	}

	watcher.OnChange(configMap(domainKey, "better.example.com"))
	if got := store.Load().Domain; got != "better.example.com" {
		t.Errorf("after a good ConfigMap the domain is %q, want its own", got)
	}
	if len(stored) != 2 {
		t.Errorf("objects were resynced for %q, want only the good ones", stored)
	}
	if len(logger.errors) != 1 || len(logger.fatals) != 0 {
		t.Errorf("the log says %q and %q, want one error", logger.errors, logger.fatals)
	}
}

func TestStore_InvalidFirstConfigMap_ExitsTheProcess(t *testing.T) {
	logger := &countingLogger{}
	NewStore(logger).OnConfigChanged(configMap(schemeKey, "ftp"))
	if len(logger.fatals) != 1 || !strings.Contains(logger.fatals[0], schemeKey+": ") {
		t.Errorf("the log says %q, want one fatal error that names the key", logger.fatals)
	}
}

func TestStore_Context_KeepsOneConfiguration(t *testing.T) {
	store := NewStore(&countingLogger{})
	store.OnConfigChanged(configMap(domainKey, "first.example.com"))
	ctx := store.ToContext(t.Context())
	store.OnConfigChanged(configMap(domainKey, "second.example.com"))
	if got := FromContextOrDefaults(ctx).Domain; got != "first.example.com" {
		t.Errorf("a reconciliation that had begun sees domain %q, want the one that it began with", got)
	}
	if got := FromContextOrDefaults(store.ToContext(t.Context())).Domain; got != "second.example.com" {
		t.Errorf("the next reconciliation sees domain %q, want the new one", got)
	}
	if got := FromContextOrDefaults(t.Context()).Domain; got != "example.com" {
		t.Errorf("a context without configuration gives domain %q, want the default", got)
	}
}

func TestStore_Directories_AreAllThatWereInEffect(t *testing.T) {
	store := NewStore(&countingLogger{})
	initial := DefaultAddressable().DirectoryNamespace
	if got := store.Directories(); !slices.Equal(got, []string{initial}) {
		t.Errorf("without a ConfigMap the directories are %q, want %q", got, initial)
	}
	for _, directory := range []string{"first", "Invalid", "second"} {
		store.OnConfigChanged(configMap(directoryNamespaceKey, directory))
	}
	if got := slices.Sorted(slices.Values(store.Directories())); !slices.Equal(slices.Compact(got), []string{"first", "second"}) {
		t.Errorf("the directories are %q, want the valid ones", got)
	}
}

// A rollback must not need a change of the ConfigMap first.
func TestStore_UnknownKey_IsIgnoredWithAWarning(t *testing.T) {
	logger := &countingLogger{}
	store := NewStore(logger)
	store.OnConfigChanged(configMap(domainKey, "good.example.com", "domian", "x"))
	if got := store.Load().Domain; got != "good.example.com" || len(logger.errors)+len(logger.fatals) > 0 {
		t.Errorf("the domain is %q, errors %q, %q", got, logger.errors, logger.fatals)
	}
	want := "Ignoring keys that this version does not know: ConfigMap config-addressable: domian: unknown key (did you mean domain?); the keys are "
	if len(logger.warnings) != 1 || !strings.HasPrefix(logger.warnings[0], want) {
		t.Errorf("the warnings are %q, want one that begins with %q", logger.warnings, want)
	}
}
