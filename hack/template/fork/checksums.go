/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bytes"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/configmap"
)

// updateChecksums writes the checksums of the examples in ConfigMaps, which contain names. The webhook rejects an example with a wrong one.
func updateChecksums(files tree) error {
	for path, f := range files {
		if !strings.HasPrefix(path, "config/config-") {
			continue
		}
		var cm corev1.ConfigMap
		if err := yaml.Unmarshal(f.content, &cm); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if recorded := cm.Annotations[configmap.ExampleChecksumAnnotation]; recorded != "" {
			f.content = bytes.ReplaceAll(f.content, []byte(recorded), []byte(configmap.Checksum(cm.Data[configmap.ExampleKey])))
			files[path] = f
		}
	}
	return nil
}
