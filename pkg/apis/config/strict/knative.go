/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package strict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/logging"
	pkgobservability "knative.dev/pkg/observability"
	observability "knative.dev/pkg/observability/configmap"
)

// Knative returns parsers of the ConfigMaps that knative.dev/pkg reads, by their names. components are the processes of the operator, each of
// which has a log level in config-logging.
func Knative(components ...string) configmap.Constructors {
	return configmap.Constructors{
		logging.ConfigMapName(): Parser(loggingRules(components), logging.NewConfigFromConfigMap),
		cmp.Or(os.Getenv("CONFIG_LEADERELECTION_NAME"), "config-leader-election"): Parser(leaderElectionRules, newLeaderElection),
		observability.Name(): Parser(observabilityRules, newObservability),
	}
}

// loggingRules are the keys of config-logging. A misspelled log level would have no effect.
func loggingRules(components []string) Rules {
	level := OneOf("debug", "info", "warn", "error", "dpanic", "panic", "fatal")
	rules := Rules{"zap-logger-config": isZapConfig}
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

var leaderElectionRules = Rules{
	"lease-duration":        Between("a duration", configmap.AsDuration, "3s", "1h", "15s"),
	"renew-deadline":        Between("a duration", configmap.AsDuration, "1ms", "1h", "10s"),
	"retry-period":          Between("a duration", configmap.AsDuration, "1ms", "1h", "500ms"),
	"buckets":               Between("a whole number", configmap.AsUint32, "1", "10", "2"),
	"map-lease-prefix.NAME": Name("a DNS name such as my-lease", validation.IsDNS1123Subdomain),
}

// LeaderElection is the content of config-leader-election. Package leaderelection of knative.dev/pkg needs a client, which packages of types must not.
type LeaderElection struct {
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	Buckets                                   uint32
}

// newLeaderElection checks that the durations go together: client-go would end the process.
func newLeaderElection(cm *corev1.ConfigMap) (*LeaderElection, error) {
	l := &LeaderElection{LeaseDuration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 10 * time.Second, Buckets: 1}
	err := configmap.Parse(cm.Data, configmap.AsDuration("lease-duration", &l.LeaseDuration), configmap.AsDuration("renew-deadline", &l.RenewDeadline),
		configmap.AsDuration("retry-period", &l.RetryPeriod), configmap.AsUint32("buckets", &l.Buckets))
	jittered := l.RetryPeriod * 6 / 5
	switch {
	case err != nil:
		return nil, err //nolint:wrapcheck // Parser does
	case l.LeaseDuration <= l.RenewDeadline:
		return nil, fmt.Errorf("lease-duration: must be longer than renew-deadline, which is %v, not %v", l.RenewDeadline, l.LeaseDuration)
	case l.RenewDeadline <= jittered:
		return nil, fmt.Errorf("renew-deadline: must be longer than %v, which is the largest jitter of retry-period, not %v", jittered, l.RenewDeadline)
	default:
		return l, nil
	}
}

var observabilityRules = Rules{
	"metrics-protocol":        OneOf("none", "prometheus", "grpc", "http/protobuf"),
	"metrics-endpoint":        Must("an http or https URL such as http://collector.example.com:4317", isURL),
	"metrics-export-interval": Between("a duration", configmap.AsDuration, "1s", "24h", "30s"),
	"tracing-protocol":        OneOf("none", "grpc", "http/protobuf", "stdout"),
	"tracing-endpoint":        Must("an http or https URL such as http://collector.example.com:4317", isURL),
	"tracing-sampling-rate":   Between("a number", configmap.AsFloat64, "0", "1", "0.1"),
	"runtime-profiling":       OneOf("enabled", "disabled"),
	"runtime-export-interval": Between("a duration", configmap.AsDuration, "1s", "24h", "15s"),
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
	return observability.Parse(cm) //nolint:wrapcheck // Parser does
}
