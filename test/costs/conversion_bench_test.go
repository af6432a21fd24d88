//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const (
	// listed is the number of objects that are listed, and maxTimes the maximum ratio of the duration at an older version to that at v1.
	listed   = 2000
	maxTimes = 2
	// warm is from how many rounds on the time means something.
	warm = 3
)

// foreign are objects of a class that the operator does not reconcile.
var foreign = kind{resource: addressableServices.resource, class: "raw", spec: addressableServices.spec}

// BenchmarkListAtAnOlderVersion compares listing objects at v1alpha1 with listing them at v1, where they are stored, each
// round one after the other. The metric v1alpha1/v1 says how many times as long it takes. The API server answers both from
// its caches, of which it keeps one for each version: it has converted what is in them when it was written.
func BenchmarkListAtAnOlderVersion(b *testing.B) {
	env := harness.Own(b, harness.AllVersions())
	ns := env.Namespace(b)
	foreign.create(b, env, ns, listed, 1)
	client := fixtures.Client(env).SamplesV1().RESTClient()
	// The first answer at each version is when its cache has everything.
	list(b, client, v1alpha1.SchemeGroupVersion.String(), ns)
	list(b, client, v1.SchemeGroupVersion.String(), ns)
	var older, stored time.Duration
	for b.Loop() {
		older += list(b, client, v1alpha1.SchemeGroupVersion.String(), ns)
		stored += list(b, client, v1.SchemeGroupVersion.String(), ns)
	}
	times := older.Seconds() / stored.Seconds()
	b.ReportMetric(times, "v1alpha1/v1")
	if b.N > warm && times > maxTimes {
		b.Errorf("a list at v1alpha1 takes %.1f times as long as one at v1, want at most %d", times, maxTimes)
	}
}

// list lists the objects of a namespace and returns how long that took, without reading what is in them.
func list(b *testing.B, client rest.Interface, version, namespace string) time.Duration {
	b.Helper()
	start := time.Now()
	text, err := client.Get().AbsPath("/apis", version, "namespaces", namespace, "addressableservices").DoRaw(b.Context())
	took := time.Since(start)
	if err != nil {
		b.Fatalf("listing at %s: %v", version, err)
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(text, &list); err != nil || len(list.Items) != listed {
		b.Fatalf("a list at %s has %d objects, want %d (%v)", version, len(list.Items), listed, err)
	}
	return took
}
