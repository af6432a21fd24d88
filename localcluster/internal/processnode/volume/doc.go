/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package volume fills the volumes of a Pod: emptyDir, configMap, secret, downwardAPI and projected ones with the tokens
// of service accounts. Files are replaced all at once, as a kubelet does, when what they are made of changes.
//
// Volumes of other kinds are rejected: storage of a cluster and paths of the host have no place here.
package volume
