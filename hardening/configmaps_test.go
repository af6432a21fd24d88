/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	fakekubeclient "knative.dev/pkg/client/injection/kube/client/fake"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/observability"
	observabilityconfigmap "knative.dev/pkg/observability/configmap"
	"knative.dev/pkg/system"
)

// errorOf returns only the error of explain.
func errorOf[T any](parse func(*corev1.ConfigMap) (T, error)) func(*corev1.ConfigMap) error {
	return func(cm *corev1.ConfigMap) error {
		_, err := explain(cm, parse)
		return err
	}
}

func TestConfigMaps_OneKeyIsInvalid_IsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		parse func(*corev1.ConfigMap) error
		data  map[string]string
		want  string
	}{
		"Level":    {errorOf(logging.NewConfigFromConfigMap), map[string]string{"loglevel.controller": "chatty", "loglevel.webhook": "info"}, `loglevel.controller: "chatty": `},
		"Buckets":  {errorOf(parseLeaderElection), map[string]string{"buckets": "11", "lease-duration": "90s"}, `buckets: "11": `},
		"Together": {errorOf(parseLeaderElection), map[string]string{"renew-deadline": "1h"}, `renew-deadline: "1h": lease-duration must be longer`},
		"Two":      {errorOf(parseLeaderElection), map[string]string{"buckets": "11", "retry-period": "soon"}, `failed to parse "retry-period"`},
		"Jitter":   {errorOf(parseLeaderElection), map[string]string{"renew-deadline": "12s", "retry-period": "10s", "lease-duration": "15s"}, `lease-duration must be`},
		"Valid":    {errorOf(parseLeaderElection), map[string]string{"renew-deadline": "13s", "retry-period": "10s", "lease-duration": "15s"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cm := &corev1.ConfigMap{Data: tc.data}
			cm.Namespace, cm.Name = "ns", "config-it"
			switch err := tc.parse(cm); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "ConfigMap ns/config-it: ") || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestConfigMaps_ThatSharedmainReads_AreInTheContext(t *testing.T) {
	of := func(name string, data map[string]string) *corev1.ConfigMap {
		cm := &corev1.ConfigMap{Data: data}
		cm.Namespace, cm.Name = system.Namespace(), name
		return cm
	}
	own := &logging.Config{LoggingConfig: "of the main"}
	ctx, client := fakekubeclient.With(logging.WithConfig(t.Context(), own), of(logging.ConfigMapName(), map[string]string{"loglevel.controller": "chatty"}),
		of(leaderelection.ConfigMapName(), map[string]string{"buckets": "3"}))
	ctx, err := Parsers(nil).withConfigMaps(ctx)
	if err != nil {
		t.Fatal(err)
	}
	read := len(client.Actions())
	election, err := sharedmain.GetLeaderElectionConfig(ctx)
	if err != nil || election.Buckets != 3 || len(client.Actions()) != read {
		t.Errorf("the configuration of leader election is %+v, %v after %d more requests", election, err, len(client.Actions())-read)
	}
	if got := logging.GetConfig(ctx); got != own {
		t.Errorf("the configuration of the log is %+v, want that of the main", got)
	}
	if observability.GetConfig(ctx) != nil {
		t.Error("a ConfigMap that does not exist is in the context")
	}
	_ = client.Tracker().Add(of(observabilityconfigmap.Name(), map[string]string{"metrics-protocol": "none of them"}))
	if _, err := Parsers(nil).withConfigMaps(ctx); err == nil || !strings.Contains(err.Error(), observabilityconfigmap.Name()+": metrics-protocol") {
		t.Errorf("the error of an invalid ConfigMap is %v", err)
	}
}

func TestConfigMaps_ParserOfTheMain_ReplacesUpstreams(t *testing.T) {
	cm := &corev1.ConfigMap{Data: map[string]string{"lease-durations": "5s"}}
	cm.Namespace, cm.Name = system.Namespace(), leaderelection.ConfigMapName()
	own := &leaderelection.Config{Buckets: 7}
	var err error
	parsers := Parsers{leaderelection.ConfigMapName(): func(*corev1.ConfigMap) (*leaderelection.Config, error) { return own, err }}
	ctx, _ := fakekubeclient.With(t.Context(), cm)
	started, startErr := parsers.withConfigMaps(ctx)
	if got := leaderelection.GetConfig(started); startErr != nil || got != own {
		t.Errorf("the configuration is %+v, %v, want that of the main's parser", got, startErr)
	}
	err = errors.New("ConfigMap config-leader-election: lease-durations: unknown key")
	if _, startErr := parsers.withConfigMaps(ctx); startErr == nil || startErr.Error() != err.Error() {
		t.Errorf("the error of the start is %v, want %v", startErr, err)
	}
}
