/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command crd-gen writes the CRDs of config/ from the Go types below pkg/apis and their kubebuilder markers. Run it by
// `make generate` after a change to a type.
//
// It is controller-gen's parser with one difference: the schemas in foreign.yaml replace the declarations of types in
// other modules. Those of knative.dev/pkg have neither bounds nor list types, and descriptions that are true of only one
// kind: every status would describe "the Service". controller-gen has no option for that, and a patch of its output would
// repeat these schemas at each field that uses them.
//
// It rejects fields without a description or a bound, and fields that share a description. The suite that applies config/ shows that the API
// server accepts the CRDs.
package main
