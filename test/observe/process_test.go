/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/rest"

	kubeclient "knative.dev/pkg/client/injection/kube/client"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	_ "github.com/mallard-dev/mallard/pkg/observer/secretaudit"
)

const (
	auditLabel = samples.GroupName + "/audit"
	viewer     = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: view}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: controller, namespace: knative-samples}]
`
)

func TestSecretAudit_SecretWithTheLabel_IsLoggedAndCountedWithoutItsData(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	env := harness.Shared(t)
	env.Kubectl(t, "apply", "--filename", "../../pkg/observer/secretaudit/role.yaml")
	// The test's other observer reads ConfigMaps.
	env.Apply(t, env.Namespace(t), viewer)
	config := rest.CopyConfig(env.Config)
	config.Impersonate.UserName = "system:serviceaccount:knative-samples:controller"
	core, logs := observer.New(zap.InfoLevel)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)

	secrets := env.Kube.CoreV1().Secrets(env.Namespace(t))
	secret := func(name string, labels map[string]string) {
		t.Helper()
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, StringData: map[string]string{"password": "hunter2"}}
		if _, err := secrets.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	audited := map[string]string{auditLabel: "true"}
	secret("before", audited)
	start(ctx, t, config, zap.New(core))
	secret("it", audited)
	secret("other", nil)
	lines := func() (lines []string) {
		for _, entry := range logs.FilterMessage("A Secret changed").All() {
			_, name, _ := strings.Cut(fmt.Sprint(entry.ContextMap()["secret"]), "/")
			lines = append(lines, fmt.Sprint(entry.ContextMap()["type"], " ", name))
		}
		return lines
	}
	await := func(want ...string) {
		t.Helper()
		harness.Eventually(t, "the lines "+strings.Join(want, ", "), func(context.Context) error {
			if got := lines(); !slices.Equal(got, want) {
				return fmt.Errorf("there are %q", got)
			}
			return nil
		})
	}
	await("Added it")
	if _, err := secrets.Patch(t.Context(), "it", "application/merge-patch+json", []byte(`{"stringData": {"password": "hunter3"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	await("Added it", "Updated it")
	for _, name := range []string{"it", "before", "other"} {
		if err := secrets.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	harness.Eventually(t, "the deletions", func(context.Context) error {
		if got := lines(); len(got) != 4 || !slices.Contains(got, "Deleted it") || !slices.Contains(got, "Deleted before") {
			return fmt.Errorf("there are %q", got)
		}
		return nil
	})
	for _, entry := range logs.All() {
		if text := fmt.Sprint(entry.Message, entry.ContextMap()); strings.Contains(text, "hunter") || strings.Contains(text, "other") {
			t.Errorf("it logs %s", text)
		}
	}
	if got := counted(t, reader); got["Added"] != 1 || got["Updated"] != 1 || got["Deleted"] != 2 {
		t.Errorf("counted are %v, want one Added, one Updated and two Deleted", got)
	}
}

// counted returns the changes of Secrets by type.
func counted(t *testing.T, reader *sdkmetric.ManualReader) map[string]int64 {
	t.Helper()
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "secret.changes" {
				for _, point := range sum.DataPoints {
					kind, _ := point.Attributes.Value("type")
					found[kind.AsString()] += point.Value
				}
			}
		}
	}
	return found
}

// paused is a channel for which the observer of ConfigMaps with the label pausing waits in each call.
var paused atomic.Pointer[chan struct{}]

// paces counts its calls.
var paces atomic.Int64

func init() {
	source := observe.Selected[*corev1.ConfigMap](kubeclient.Get, coreinformers.NewFilteredConfigMapInformer, observe.Labels("pausing"))
	observe.Register("pausing", source, func(context.Context, observe.Event[*corev1.ConfigMap]) error {
		if wait := paused.Load(); wait != nil {
			<-*wait
		}
		paces.Add(1)
		return nil
	})
}

func TestShutdown_EventsPending_DrainsThemOrNamesTheObserver(t *testing.T) {
	const objects = 20
	for name, stuck := range map[string]bool{"Drains": false, "Stuck": true} {
		t.Run(name, func(t *testing.T) {
			env := harness.Shared(t)
			ctx, cancel := context.WithCancel(context.Background())
			t.Cleanup(cancel)
			process := start(ctx, t, env.Config, zap.NewNop())
			proceed := make(chan struct{})
			proceedOnce := sync.OnceFunc(func() { close(proceed) })
			t.Cleanup(proceedOnce)
			paused.Store(&proceed)
			defer paused.Store(nil)
			paces.Store(0)
			ns := env.Namespace(t)
			t.Cleanup(func() {
				// The next process begins without objects.
				if err := env.Kube.CoreV1().ConfigMaps(ns).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
					t.Error(err)
				}
			})
			for i := range objects {
				object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("it-", i), Labels: map[string]string{"pausing": "yes"}}}
				if _, err := env.Kube.CoreV1().ConfigMaps(ns).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			harness.Eventually(t, "the events are in the queue", func(context.Context) error {
				if n := observe.Pending(process, "pausing"); n != objects {
					return fmt.Errorf("%d are pending", n)
				}
				return nil
			})
			cancel()
			deadline := harness.Deadline
			if stuck {
				deadline = 50 * time.Millisecond
			} else {
				proceedOnce()
			}
			limited, cancelLimited := context.WithTimeout(t.Context(), deadline)
			defer cancelLimited()
			err := observe.Shutdown(limited)
			switch want := fmt.Sprintf(`observer "pausing": the events of %d objects were not delivered`, objects); {
			case !stuck && err != nil:
				t.Errorf("Shutdown: %v", err)
			case !stuck && paces.Load() != objects:
				t.Errorf("%d events were delivered, want %d", paces.Load(), objects)
			case stuck && (err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, context.DeadlineExceeded)):
				t.Errorf("Shutdown: got %v, want %q and the deadline", err, want)
			}
		})
	}
}
