/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	metering "github.com/mallard-dev/mallard/test/measured"
)

// The provider of OpenTelemetry is set once per process, so tests find their own data by the names that they use.
var reader = sdkmetric.NewManualReader()

func TestMain(m *testing.M) {
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	os.Exit(m.Run())
}

type attributes map[attribute.Key]string

// measured returns the sum of the data points of a metric that have these attributes, among others.
func measured(t *testing.T, name string, with attributes) float64 {
	t.Helper()
	var attrs []attribute.KeyValue
	for key, value := range with {
		attrs = append(attrs, key.String(value))
	}
	all, _ := metering.Sum(t, reader, name, attrs...)
	return float64(all)
}

var kinds sync.Map

// kindOf is a kind for a test alone, and for one run of it: what was measured is never forgotten.
func kindOf(t *testing.T) string {
	t.Helper()
	kind, _ := kinds.LoadOrStore(t, fmt.Sprintf("%s-%p", t.Name(), t))
	return kind.(string)
}

// thing is any object.
func thing(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: version}}
}

// pass lets time pass in a bubble of synctest, where no goroutine waits for it.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // see above

// seed returns a seed for random schedules, which is logged and which testrand.SeedVariable sets.
func seed(t *testing.T) uint64 {
	t.Helper()
	return uint64(testrand.Source(t).Int63())
}

// bucket has the keys whose names begin with a text.
type bucket struct{ name, covers string }

func (b bucket) Name() string                      { return b.name }
func (b bucket) Has(key types.NamespacedName) bool { return strings.HasPrefix(key.Name, b.covers) }
