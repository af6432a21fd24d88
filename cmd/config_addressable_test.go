/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cmd

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/pkg/apis/config"
)

// The example of config-addressable is its reference, so it has to be complete.
func TestConfigAddressable_Example_ShowsEveryKey(t *testing.T) {
	example := exampleOf(t, shipped(t)[config.AddressableName])
	_, err := config.NewAddressableFromConfigMap(&corev1.ConfigMap{Data: map[string]string{"unknown": ""}})
	if err == nil {
		t.Fatal("an unknown key was accepted")
	}
	_, keys, found := strings.Cut(err.Error(), "the keys are ")
	if !found {
		t.Fatalf("the message %q does not list the keys", err)
	}
	for key := range strings.SplitSeq(keys, ", ") {
		if _, ok := example[key]; !ok {
			t.Errorf("_example does not show %s", key)
		}
	}
}
