/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package install holds the suite of what is installed: that an API server accepts config/ and each overlay of kustomize/
// without a warning and is as before once it is deleted, that what they say of replicas, nodes, ports and networks fits
// together, and that an overlay changes what it says and nothing else.
//
// Most of it runs kubectl on control planes without the operator; what the installed operator does is shown by the other suites,
// except for effects of a single overlay or manifest.
package install
