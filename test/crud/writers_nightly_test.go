//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/crud"
)

func TestFilterPatch_HundredWritersOfOneObject_AllSucceed(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", map[string]string{"n": "0"})), crud.Created)
	const writers = 100
	var group sync.WaitGroup
	attempts := make([]int, writers)
	for i := range writers {
		group.Go(func() {
			result, err := s.client.Run(t.Context(), crud.FilterPatch(crud.Ref{Namespace: s.ns, Name: "a"}, func(configMap *corev1.ConfigMap) error {
				n, err := strconv.Atoi(configMap.Data["n"])
				configMap.Data["n"] = strconv.Itoa(n + 1)
				return err
			}))
			if attempts[i] = result.Attempts; err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := field(t, s.get(configMaps, "a"), "data", "n"); n != strconv.Itoa(writers) {
		t.Errorf("%d writers counted to %v after %v attempts", writers, n, attempts)
	}
}
