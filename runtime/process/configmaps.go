/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"maps"
	"reflect"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/pkg/apis/config/strict"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// Parsers parse the ConfigMaps that the processes of an operator read, by their names. Their errors name the ConfigMap and
// the key; see package strict.
type Parsers configmap.Constructors

// NewParsers returns the parsers of an operator's own ConfigMaps and of those that knative.dev/pkg reads. components are the
// processes of the operator, each of which has a log level in config-logging.
func NewParsers(own configmap.Constructors, components ...string) Parsers {
	parsers := Parsers(strict.Knative(components...))
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
