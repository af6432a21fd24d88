/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package image takes images from the local registry and unpacks each once, under its digest, so that a container's root
// folder is a copy of files on the same disk. It rejects whatever is not in that registry; which Pods may run is decided by
// who calls it. It pushes nothing, and knows no credentials.
package image
