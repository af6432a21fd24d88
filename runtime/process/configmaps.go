/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	observability "knative.dev/pkg/observability/configmap"

	"github.com/mallard-dev/mallard/runtime/leader"
)

// Parsers parse the ConfigMaps that the processes of an operator read, by their names. Their errors name the ConfigMap and,
// where a single key is to blame, the key.
type Parsers configmap.Constructors

// NewParsers returns the parsers of an operator's own ConfigMaps and of those that knative.dev/pkg reads. components are the
// processes of the operator, each of which has a log level in config-logging.
func NewParsers(own configmap.Constructors, components ...string) Parsers {
	parsers := Parsers{
		logging.ConfigMapName():        namingKey(loggingParser(components)),
		leaderelection.ConfigMapName(): newLeaderElection,
		observability.Name():           namingKey(observability.Parse),
	}
	maps.Copy(parsers, own)
	return parsers
}

// Check returns an error if a ConfigMap is invalid. One that no process reads is valid.
func (p Parsers) Check(cm *corev1.ConfigMap) error {
	parser, ok := p[cm.Name]
	if !ok {
		return nil
	}
	results := reflect.ValueOf(parser).Call([]reflect.Value{reflect.ValueOf(cm)})
	err, _ := reflect.TypeAssert[error](results[1])
	return err
}

// namingKey makes the errors of a parser name the ConfigMap and, where one key is invalid by itself, that key. Not all parsers of
// knative.dev/pkg do.
func namingKey[T any](parse func(*corev1.ConfigMap) (T, error)) func(*corev1.ConfigMap) (T, error) {
	return func(cm *corev1.ConfigMap) (T, error) {
		parsed, err := parse(cm)
		if err == nil {
			return parsed, nil
		}
		for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
			single := &corev1.ConfigMap{ObjectMeta: cm.ObjectMeta, Data: map[string]string{key: cm.Data[key]}}
			if _, err := parse(single); err != nil {
				return parsed, fmt.Errorf("ConfigMap %s: %s: %w", cm.Name, key, err)
			}
		}
		return parsed, fmt.Errorf("ConfigMap %s: %w", cm.Name, err)
	}
}

// newLeaderElection also checks that the durations go together: otherwise two processes might write at the same time.
func newLeaderElection(cm *corev1.ConfigMap) (*leaderelection.Config, error) {
	// The parser's own message is an inequality that does not hold.
	if n, err := strconv.ParseUint(cm.Data["buckets"], 10, 32); err == nil && (n < 1 || n > uint64(leaderelection.MaxBuckets)) {
		return nil, fmt.Errorf("ConfigMap %s: buckets: must be a number from 1 to %d, not %d", cm.Name, leaderelection.MaxBuckets, n)
	}
	parsed, err := namingKey(leaderelection.NewConfigFromConfigMap)(cm)
	if err != nil {
		return nil, err
	}
	if err := leader.Check(parsed); err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w", cm.Name, err)
	}
	return parsed, nil
}

// loggingParser also checks that a logger can be created: otherwise the processes would start with another format. It rejects
// unknown keys, because a misspelled log level would have no effect.
func loggingParser(components []string) func(cm *corev1.ConfigMap) (*logging.Config, error) {
	var keys []string
	for _, component := range components {
		keys = append(keys, "loglevel."+component)
	}
	keys = append(keys, "zap-logger-config")
	return func(cm *corev1.ConfigMap) (*logging.Config, error) {
		for key := range cm.Data {
			if key != configmap.ExampleKey && !slices.Contains(keys, key) {
				return nil, fmt.Errorf("unknown key; the keys are %s", strings.Join(keys, ", "))
			}
		}
		parsed, err := logging.NewConfigFromConfigMap(cm)
		if err != nil || parsed.LoggingConfig == "" {
			return parsed, err //nolint:wrapcheck // namingKey does
		}
		zapConfig := zap.NewProductionConfig()
		if err := json.Unmarshal([]byte(parsed.LoggingConfig), &zapConfig); err != nil {
			return nil, fmt.Errorf("must be the JSON of a zap configuration: %w", err)
		}
		// The webhook must not open the files of others' logs.
		zapConfig.OutputPaths, zapConfig.ErrorOutputPaths = nil, nil
		if _, err := zapConfig.Build(); err != nil {
			return nil, fmt.Errorf("makes no zap logger: %w", err)
		}
		return parsed, nil
	}
}
