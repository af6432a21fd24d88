/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command typecheck checks that packages and their tests compile for another system, or with other build tags, than the
// machine's own.
//
// The go command says the same after it has compiled every dependency anew, which for the control plane is all of
// Kubernetes and takes minutes. Types alone are read from source in seconds. Kubernetes' own repository is checked for its
// platforms in this way.
//
// It neither links nor vets, and it leaves out cgo, as everything here is built without.
package main
