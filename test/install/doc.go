/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package install tests the manifests: an API server accepts config/ and each overlay of kustomize/ without a warning and is as before once it is
// deleted, replicas, nodes, ports and networks fit together, and an overlay changes what it documents and nothing else. Most tests run kubectl on
// control planes without the operator.
package install
