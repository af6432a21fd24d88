/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package registry serves an OCI registry on the loopback interface, from which the process node takes its images. Blobs
// and manifests are kept in a folder, so that a later start of the same cluster still has them, under the same address.
// It holds an empty base image for programs that need nothing but themselves.
//
// No login is needed: every user who can open connections on this machine can push. It deletes nothing by itself, mirrors no
// other registry, and decides nothing about what is run from it.
package registry
