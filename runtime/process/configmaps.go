/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	pkgobservability "knative.dev/pkg/observability"
	observability "knative.dev/pkg/observability/configmap"

	"github.com/mallard-dev/mallard/runtime/leader"
	"github.com/mallard-dev/mallard/runtime/strict"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// Parsers parse the ConfigMaps that the processes of an operator read, by their names. Their errors name the ConfigMap and
// the key; see package strict.
type Parsers configmap.Constructors

// NewParsers returns the parsers of an operator's own ConfigMaps and of those that knative.dev/pkg reads. components are the
// processes of the operator, each of which has a log level in config-logging.
func NewParsers(own configmap.Constructors, components ...string) Parsers {
	parsers := Parsers{
		logging.ConfigMapName():        strict.Parser(loggingRules(components), logging.NewConfigFromConfigMap),
		leaderelection.ConfigMapName(): strict.Parser(leaderElectionRules, newLeaderElection),
		observability.Name():           strict.Parser(observabilityRules, newObservability),
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

// watch returns an observer that records whether a ConfigMap is valid, and passes valid ones on: a process that runs keeps the last valid content. The
// stores of an operator's own ConfigMaps, for which apply is nil, do the same.
func (p Parsers) watch(logger *zap.SugaredLogger, apply configmap.Observer) configmap.Observer {
	return func(cm *corev1.ConfigMap) {
		err := p.Check(cm)
		telemetry.ConfigMapIsValid(cm.Name, err == nil)
		if err == nil && apply != nil {
			apply(cm)
		} else if apply != nil {
			logger.Errorw("Keeping the last valid content of an invalid ConfigMap", "error", err)
		}
	}
}

// loggingRules are the keys of config-logging. A misspelled log level would have no effect.
func loggingRules(components []string) strict.Rules {
	level := strict.OneOf("debug", "info", "warn", "error", "dpanic", "panic", "fatal")
	rules := strict.Rules{"zap-logger-config": isZapConfig}
	for _, component := range components {
		rules["loglevel."+component] = func(value string) error { return level(strings.ToLower(value)) }
	}
	return rules
}

// isZapConfig checks that a logger can be created: otherwise the processes would start with another format.
func isZapConfig(value string) error {
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.DisallowUnknownFields()
	config := zap.NewProductionConfig()
	err := decoder.Decode(&config)
	if err == nil {
		// The webhook must not open the files of others' logs.
		config.OutputPaths, config.ErrorOutputPaths = nil, nil
		_, err = config.Build()
	}
	if err != nil {
		return fmt.Errorf(`must be the JSON of a zap configuration such as {"level": "info"}, not %q: %w`, value, err)
	}
	return nil
}

var leaderElectionRules = strict.Rules{
	"lease-duration": strict.Between("a duration", configmap.AsDuration, "3s", "1h", "15s"),
	"renew-deadline": strict.Between("a duration", configmap.AsDuration, "1ms", "1h", "10s"),
	"retry-period":   strict.Between("a duration", configmap.AsDuration, "1ms", "1h", "500ms"),
	"buckets":        strict.Between("a whole number", configmap.AsUint32, "1", strconv.FormatUint(uint64(leaderelection.MaxBuckets), 10), "2"),
	// Leases have the names of their processes, whatever this says; ConfigMaps of Knative may have it.
	"map-lease-prefix.NAME": strict.Name("a DNS name such as my-lease", validation.IsDNS1123Subdomain),
}

// newLeaderElection checks that the durations go together: otherwise two processes might write at the same time.
func newLeaderElection(cm *corev1.ConfigMap) (*leaderelection.Config, error) {
	parsed, err := leaderelection.NewConfigFromConfigMap(cm)
	if err == nil {
		err = leader.Check(parsed)
	}
	return parsed, err
}

var observabilityRules = strict.Rules{
	"metrics-protocol":        strict.OneOf("none", "prometheus", "grpc", "http/protobuf"),
	"metrics-endpoint":        strict.Must("an http or https URL such as http://collector.example.com:4317", isURL),
	"metrics-export-interval": strict.Between("a duration", configmap.AsDuration, "1s", "24h", "30s"),
	"tracing-protocol":        strict.OneOf("none", "grpc", "http/protobuf", "stdout"),
	"tracing-endpoint":        strict.Must("an http or https URL such as http://collector.example.com:4317", isURL),
	"tracing-sampling-rate":   strict.Between("a number", configmap.AsFloat64, "0", "1", "0.1"),
	"runtime-profiling":       strict.OneOf("enabled", "disabled"),
	"runtime-export-interval": strict.Between("a duration", configmap.AsDuration, "1s", "24h", "15s"),
}

func isURL(value string) bool {
	u, err := url.Parse(value)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// newObservability checks that there is an endpoint where something is pushed. The parser's own errors do not name the key.
func newObservability(cm *corev1.ConfigMap) (*pkgobservability.Config, error) {
	for _, what := range []string{"metrics", "tracing"} {
		protocol, endpoint := cm.Data[what+"-protocol"], cm.Data[what+"-endpoint"]
		if pushed := protocol == "grpc" || protocol == "http/protobuf"; pushed != (endpoint != "") {
			return nil, fmt.Errorf("%s-endpoint: must be set if %[1]s-protocol is grpc or http/protobuf, and only then; it is %q, and the protocol %q",
				what, endpoint, protocol)
		}
	}
	return observability.Parse(cm) //nolint:wrapcheck // package strict does
}
