//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// With their schemas, the CRDs of this test take about 14 MiB in the cache of each process. TestTrim_TwoThousandCRDs_AddAtMostEightMiB
// measures ten times as many without an API server, which needs minutes for them.
func TestMemory_OtherCRDs_AddNextToNothing(t *testing.T) {
	t.Parallel()
	const crds, limit = 200, 6 << 20
	processes := []string{"webhook", "controller"}
	// Frequent garbage collections, so that memory that is in use is told apart from garbage.
	env := harness.Own(t, harness.WithReplicas("webhook", 1), harness.WithReplicas("controller", 1),
		harness.WithEnv("webhook", "GOGC", "10"), harness.WithEnv("controller", "GOGC", "10"))
	measure := func() map[string]float64 {
		resident := map[string]float64{}
		for _, name := range processes {
			env.Process(t, name).Restart(t)
			resident[name] = env.Process(t, name).Metrics(t)["process_resident_memory_bytes"].GetMetric()[0].GetGauge().GetValue()
		}
		return resident
	}
	before := measure()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(4)
	for i := range crds {
		group.Go(func() error {
			_, err := env.CRDs.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, largeCRD(i), metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for name, after := range measure() {
		added := int(after - before[name])
		t.Logf("%s: %d KiB, and %d KiB more with %d CRDs", name, int(before[name])>>10, added>>10, crds)
		if added > limit {
			t.Errorf("%s: %d CRDs of others add %d KiB, want at most %d KiB", name, crds, added>>10, limit>>10)
		}
	}
}

// largeCRD has a schema of 18 KiB.
func largeCRD(i int) *apiextensionsv1.CustomResourceDefinition {
	properties := map[string]apiextensionsv1.JSONSchemaProps{}
	for field := range 18 {
		properties[fmt.Sprintf("field%d", field)] = apiextensionsv1.JSONSchemaProps{Type: "string", Description: strings.Repeat("configures ", 1<<10/11)}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("others%d.example.com", i)},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: fmt.Sprintf("others%d", i), Kind: fmt.Sprintf("Other%d", i)},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}},
			}},
		},
	}
}
