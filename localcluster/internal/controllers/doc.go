/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package controllers runs those of Kubernetes' own controllers that an operator's objects depend on: garbage collector,
// namespaces, service accounts and their token Secrets, the root CA's config map, ClusterRole aggregation, Endpoints and
// EndpointSlices. Each has the identity and so the rights that it has in a real cluster. Workload controllers
// (Deployments, Jobs and so on) are not among them, nor is anything that needs a cloud, storage or more than one node.
package controllers
