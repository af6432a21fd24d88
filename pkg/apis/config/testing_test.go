/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// configMap is a ConfigMap config-addressable with these keys and values.
func configMap(keysAndValues ...string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "knative-samples", Name: AddressableName},
		Data:       map[string]string{},
	}
	for i := 0; i < len(keysAndValues); i += 2 {
		cm.Data[keysAndValues[i]] = keysAndValues[i+1]
	}
	return cm
}

// countingLogger is a Logger that records its messages.
type countingLogger struct {
	warnings, errors, fatals []string
}

func (*countingLogger) Debugf(string, ...any) {}
func (*countingLogger) Infof(string, ...any)  {}

func (l *countingLogger) Warnf(format string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

func (l *countingLogger) Errorf(format string, args ...any) {
	l.errors = append(l.errors, fmt.Sprintf(format, args...))
}

func (l *countingLogger) Fatalf(format string, args ...any) {
	l.fatals = append(l.fatals, fmt.Sprintf(format, args...))
}
