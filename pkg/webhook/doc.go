/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhook wires the webhooks: defaulting, validation and conversion of the
// samples, validation of the operator's config maps, admission of what AddressBindings
// are for, the server and the certificate that they are served with, and a readiness
// that means that the API server can reach them.
//
// The server, the certificate and the answers to admission requests are our own: server.go describes what happens when a
// replica stops, rotation.go how a certificate is renewed, keys.go how the API server is authenticated, and admission.go
// which objects knative.dev/pkg would reject or rewrite.
//
// What is filled in and what is refused is not decided here; each type says it in
// its _defaults and _validation file, each config map in its parser, and what a binding
// gives is in pkg/binding. How versions are converted is in the packages of the types,
// too, most of it generated.
package webhook
