/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhook is the operator's own admission: defaulting, validation and conversion of its kinds, validation of its
// ConfigMaps, and the environment variables that AddressBindings give to the objects they select.
//
// controllers.go lists the webhooks, and kinds.go derives the kinds that they serve from the scheme. The rules are elsewhere: each type has them in
// its _defaults and _validation file, ConfigMaps in package configuration, and bindings in pkg/binding.
package webhook
