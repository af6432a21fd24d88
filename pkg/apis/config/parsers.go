/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import "knative.dev/pkg/configmap"

// Components are the operator's processes, each of which has a log level in the ConfigMap config-logging.
var Components = []string{"controller", "webhook", "hooks"}

// Parsers parse the operator's own ConfigMaps, by their names.
var Parsers = configmap.Constructors{AddressableName: NewAddressableFromConfigMap}
