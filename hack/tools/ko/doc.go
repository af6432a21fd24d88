/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package ko pins ko, which builds the images that config/ names and writes their digests into the manifests. It is a separate module because ko
// brings the clients of every cloud's registry along.
//
// Its tests show that ko can resolve config/ as it is, with neither Docker nor the network, and inspect a release that
// hack/release.sh makes with it.
package ko
