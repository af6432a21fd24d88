/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import "k8s.io/client-go/kubernetes"

// EnvOf returns an environment that has a client and an audit log only.
func EnvOf(kube kubernetes.Interface, auditLog string) *Env {
	return &Env{Kube: kube, auditLog: auditLog}
}
