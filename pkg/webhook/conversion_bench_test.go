/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/logging"
	rtesting "knative.dev/pkg/reconciler/testing"
	knativewebhook "knative.dev/pkg/webhook"
)

// BenchmarkConversion has the webhook convert stored objects, as the API server does for the watch cache of an older version: one per request, also when it
// lists them. A request may contain more. The metrics are the CPU time of one request and of one object, with the garbage collection.
func BenchmarkConversion(b *testing.B) {
	object, err := os.ReadFile("testdata/addressableservice.json")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel, _ := rtesting.SetupFakeContextWithCancel(b)
	defer cancel()
	ctx = knativewebhook.WithOptions(ctx, knativewebhook.Options{SecretName: "webhook-certs"})
	// The logger of a test formats each line of level debug.
	ctx = logging.WithLogger(ctx, zap.New(zapcore.NewCore(
		zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zapcore.InfoLevel)).Sugar())
	handler, err := knativewebhook.New(ctx, []any{NewConversionController(ctx, nil).Reconciler})
	if err != nil {
		b.Fatal(err)
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		for _, objects := range []int{1, 500} {
			b.Run(fmt.Sprintf("%s/%d", version, objects), func(b *testing.B) {
				body := conversionReview(b, version, object, objects)
				b.ReportAllocs()
				before := cpuTime(b)
				for b.Loop() {
					request := httptest.NewRequest(http.MethodPost, "/conversion", bytes.NewReader(body))
					request.Header.Set("Content-Type", "application/json")
					response := httptest.NewRecorder()
					handler.ServeHTTP(response, request)
					if response.Code != http.StatusOK || bytes.Contains(response.Body.Bytes(), []byte(metav1.StatusFailure)) {
						b.Fatalf("the webhook answers %d: %s", response.Code, response.Body)
					}
				}
				perRequest := float64((cpuTime(b) - before).Microseconds()) / float64(b.N)
				b.ReportMetric(perRequest, "cpu-µs/request")
				b.ReportMetric(perRequest/float64(objects), "cpu-µs/object")
			})
		}
	}
}

// conversionReview returns the request for n objects at a version.
func conversionReview(b *testing.B, version string, object []byte, n int) []byte {
	b.Helper()
	request := &apiextensionsv1.ConversionRequest{UID: "uid", DesiredAPIVersion: group + version}
	for range n {
		request.Objects = append(request.Objects, runtime.RawExtension{Raw: object})
	}
	body, err := json.Marshal(apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "ConversionReview"}, Request: request,
	})
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// cpuTime returns the CPU time that the process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
