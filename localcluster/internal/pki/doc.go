/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pki makes the certificates and keys of a cluster: one authority that signs the API server's certificate and
// those of its clients, and the key that signs service account tokens. The authority and the token key stay in the
// cluster's folder, so that tokens and clients outlive a restart; all else is created at each start. Front proxies
// (aggregated API servers) get no identity, and nothing is ever revoked.
package pki
