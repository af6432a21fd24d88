/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"

	"k8s.io/client-go/kubernetes"
)

// EnvOf returns an environment that has a client and an audit log only.
func EnvOf(kube kubernetes.Interface, auditLog string) *Env {
	return &Env{Kube: kube, auditLog: auditLog}
}

// StartShared starts the environment of a suite without options.
func StartShared(ctx context.Context) error {
	_, err := start(ctx, nil)
	return err
}

// SharedEnv returns an environment that other suites use, too, without clients.
func SharedEnv() *Env { return &Env{attached: true} }

// Record copies what is printed to a file until the returned function is called.
var Record = record
