/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package controllers runs those of Kubernetes' own controllers that an operator's objects depend on: garbage collector,
// namespaces and their quotas, service accounts and their token Secrets, the root CA's ConfigMap, ClusterRole aggregation, Endpoints and
// EndpointSlices; and, where Pods are really run, those that make Pods (Deployments, ReplicaSets, StatefulSets, DaemonSets,
// Jobs, CronJobs) and the one of disruption budgets. Each has the identity and so the RBAC permissions that it has in a real cluster.
// Nothing is among them that needs a cloud, storage or the health of Nodes.
package controllers
