//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// BenchmarkBinding compares how long it takes from the creation of a binding until all its subjects have the address with how long one
// client takes that patches as many objects likewise, on the same server, one after the other. The metric bound/raw says how much
// slower (above 1) or faster the operator is.
func BenchmarkBinding(b *testing.B) {
	env := harness.Shared(b)
	var raw, bound time.Duration
	for b.Loop() {
		w := newWorld(b, env)
		var manifests []string
		for i := range subjects {
			manifests = append(manifests, deployment(fmt.Sprintf("d%03d", i), "bound: to-it"))
		}
		refs := w.Apply(b, w.ns, strings.Join(manifests, "---"))

		start := time.Now()
		for _, ref := range refs {
			_, err := w.Kube.AppsV1().Deployments(w.ns).Patch(b.Context(), ref.Name, types.JSONPatchType, []byte(`[
				{"op": "add", "path": "/spec/template/spec/initContainers/0/env", "value": [{"name": "RAW", "value": "v"}]},
				{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "RAW", "value": "v"}},
				{"op": "add", "path": "/spec/template/spec/containers/1/env", "value": [{"name": "RAW", "value": "v"}]}
			]`), metav1.PatchOptions{FieldManager: binding.FieldManager})
			if err != nil {
				b.Fatalf("patching %s: %v", ref, err)
			}
		}
		raw += time.Since(start)

		start = time.Now()
		ab := w.bind(b, "b", byLabel)
		w.Await(b, ab, harness.HasCondition("SubjectsBound", "True", ""), counts(subjects, subjects))
		bound += time.Since(start)
	}
	b.ReportMetric(bound.Seconds()/raw.Seconds(), "bound/raw")
}
