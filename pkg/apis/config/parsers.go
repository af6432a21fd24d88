/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"maps"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/pkg/apis/config/strict"
)

// Components are the operator's processes, each of which has a log level in the ConfigMap config-logging.
var Components = []string{"controller", "webhook", "hooks"}

// Parsers parse the operator's own ConfigMaps, by their names.
var Parsers = configmap.Constructors{AddressableName: NewAddressableFromConfigMap}

// Constructors returns the parsers of all ConfigMaps in config/, by their names: the operator's own, and those that knative.dev/pkg reads.
func Constructors() configmap.Constructors {
	all := strict.Knative(Components...)
	maps.Copy(all, Parsers)
	return all
}
