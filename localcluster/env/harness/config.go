/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// SetConfig sets keys of a ConfigMap of the system namespace for the rest of the test; other keys stay. At the end the
// ConfigMap is as it was before. An environment that is shared must be left alone by other tests until then.
func (e *Env) SetConfig(t testing.TB, name string, data map[string]string) {
	t.Helper()
	if err := e.TrySetConfig(t, name, data); err != nil {
		t.Fatalf("changing ConfigMap %s: %v", name, err)
	}
}

// TrySetConfig is SetConfig for a change that the webhook may reject; it returns the rejection as it is.
func (e *Env) TrySetConfig(t testing.TB, name string, data map[string]string) error {
	t.Helper()
	e.mustBeOwn(t, "ConfigMap "+name)
	before, err := e.Kube.CoreV1().ConfigMaps(e.SystemNamespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading ConfigMap %s: %v", name, err)
	}
	err = e.updateConfig(t.Context(), name, func(c *corev1.ConfigMap) {
		if c.Data == nil {
			c.Data = map[string]string{}
		}
		maps.Copy(c.Data, data)
	})
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		// The context of the test is over by now.
		err := e.updateConfig(context.Background(), name, func(c *corev1.ConfigMap) { c.Data = before.Data })
		if err != nil {
			t.Errorf("restoring ConfigMap %s: %v", name, err)
		}
	})
	return nil
}

func (e *Env) updateConfig(ctx context.Context, name string, change func(*corev1.ConfigMap)) error {
	configMaps := e.Kube.CoreV1().ConfigMaps(e.SystemNamespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := configMaps.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(current)
		_, err = configMaps.Update(ctx, current, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
}
