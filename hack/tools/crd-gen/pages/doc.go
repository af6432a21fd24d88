/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pages generates the pages of docs/reference that list declarations:
//
//	api/KIND-fields.md       fields of each version, from the CRD
//	reasons-and-events.md    reasons of conditions and events, from the constants named Reason… and their comments
//	permissions.md           RBAC permissions by account, from the manifests and their comments
//	configuration.md         keys of ConfigMaps, from their _example; environment variables, from the settings of each program
//
// Each page has a template, which contains the text around the tables. crd-gen calls [Write] with the CRDs that it has generated. A declaration
// that has no comment, and a constant whose condition is unknown, is an error that names it.
package pages
