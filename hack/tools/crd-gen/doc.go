/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command crd-gen writes the CustomResourceDefinitions of config/ wholly from the Go types below pkg/apis and their
// kubebuilder markers.
//
// controller-gen could do most of it. It takes the schema and the texts of a nested type from where that type is
// declared, though, and the types of knative.dev/pkg declare neither bounds, nor list types, nor sentences that are true
// of every resource: a status would tell its reader about "the Service". So crd-gen uses controller-gen's parser as a
// library, brings schemas of its own for the types of other modules (foreign.yaml), and refuses a CRD that is not fit to be
// read with kubectl explain (check.go).
//
// It does not validate the CRD as an API server would; the suite that applies config/ does.
package main
