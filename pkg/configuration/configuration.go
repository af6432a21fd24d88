/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package configuration has the rules of the operator's ConfigMaps, for the webhook that validates them and the processes that read them. It also has the
// context with which these processes begin.
package configuration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	pkgobservability "knative.dev/pkg/observability"
	observability "knative.dev/pkg/observability/configmap"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/config/strict"
)

// components are the operator's processes, each of which has a log level in the ConfigMap config-logging.
var components = []string{"controller", "webhook", "hooks"}

// NewContext returns a context that a signal cancels. Its informers watch the namespace that the environment variable WATCH_NAMESPACE names, or all.
func NewContext() context.Context {
	return injection.WithNamespaceScope(signals.NewContext(), os.Getenv("WATCH_NAMESPACE"))
}

// Parsers returns the parsers of all ConfigMaps in config/, by their names: the operator's own, and those that knative.dev/pkg reads.
func Parsers() configmap.Constructors {
	return configmap.Constructors{
		config.AddressableName:         config.NewAddressableFromConfigMap,
		logging.ConfigMapName():        strict.Parser(loggingRules(), logging.NewConfigFromConfigMap),
		leaderelection.ConfigMapName(): strict.Parser(leaderElectionRules, newLeaderElection),
		"config-leader-election":       strict.Parser(leaderElectionRules, newLeaderElection), // the controller's, while the webhook has another
		observability.Name():           strict.Parser(observabilityRules, newObservability),
	}
}

// AtStart returns the parsers of the ConfigMaps that sharedmain reads when a process starts. They have the webhook's rules, and log unknown keys.
func AtStart() configmap.Constructors {
	return configmap.Constructors{
		logging.ConfigMapName():        strict.Tolerant(log.Printf, strict.Parser(loggingRules(), logging.NewConfigFromConfigMap)),
		leaderelection.ConfigMapName(): strict.Tolerant(log.Printf, strict.Parser(leaderElectionRules, newLeaderElection)),
		observability.Name():           strict.Tolerant(log.Printf, strict.Parser(observabilityRules, newObservability)),
	}
}

// loggingRules are the keys of config-logging. A misspelled log level would have no effect.
func loggingRules() strict.Rules {
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
	// The decoder ignores what follows the first value.
	err := cmp.Or(decoder.Decode(&config), json.Unmarshal([]byte(value), &json.RawMessage{}))
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
	"lease-duration":        strict.Between("a duration of whole seconds", configmap.AsDuration, "3s", "1h", "15s"),
	"renew-deadline":        strict.Between("a duration", configmap.AsDuration, "1ms", "1h", "10s"),
	"retry-period":          strict.Between("a duration", configmap.AsDuration, "1ms", "1h", "500ms"),
	"buckets":               strict.Between("a whole number", configmap.AsUint32, "1", "10", "2"),
	"map-lease-prefix.NAME": strict.Name("a DNS name such as my-lease", validation.IsDNS1123Subdomain),
}

// newLeaderElection checks that the durations go together: client-go would end the process.
func newLeaderElection(cm *corev1.ConfigMap) (*leaderelection.Config, error) {
	l, err := leaderelection.NewConfigFromConfigMap(cm)
	if err != nil {
		return nil, err //nolint:wrapcheck // package strict does
	}
	jittered := l.RetryPeriod * 6 / 5
	switch {
	case l.LeaseDuration%time.Second != 0: // a lease cannot hold it
		return nil, fmt.Errorf("lease-duration: must be a duration of whole seconds from 3s to 1h such as 15s, not %q", cm.Data["lease-duration"])
	case l.LeaseDuration <= l.RenewDeadline:
		return nil, fmt.Errorf("lease-duration: must be longer than renew-deadline, which is %v, not %v", l.RenewDeadline, l.LeaseDuration)
	case l.RenewDeadline <= jittered:
		return nil, fmt.Errorf("renew-deadline: must be longer than %v, which is the largest jitter of retry-period, not %v", jittered, l.RenewDeadline)
	default:
		return l, nil
	}
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
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	port, err := strconv.Atoi(cmp.Or(u.Port(), "80"))
	return err == nil && len(validation.IsValidPortNum(port)) == 0
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
