/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package words

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/harness"
)

// Target is the manifest of a Service that objects refer to.
const Target = `
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}]
`

// Published is an AddressableService that refers to Target and publishes an alias, so that it has a child and a finalizer.
// The alias is one that objects of the same name in other namespaces do not take.
func Published(namespace, name string) *v1.AddressableService {
	const generated = 5 // what the API server appends to the name of a test's namespace
	return &v1.AddressableService{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1.AddressableServiceSpec{
			Ref:     v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"},
			Publish: &v1.Publication{Alias: name + "-" + namespace[len(namespace)-generated:]},
		},
	}
}

// AwaitReady waits until every AddressableService of a namespace is Ready, and there are as many as there should be.
func AwaitReady(t testing.TB, env *harness.Env, namespace string, want int) {
	t.Helper()
	harness.EventuallyWithin(t, time.Minute, "every object is Ready", func(ctx context.Context) error {
		list, err := env.Samples.SamplesV1().AddressableServices(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing the objects: %w", err)
		}
		if len(list.Items) != want {
			return fmt.Errorf("there are %d, want %d", len(list.Items), want)
		}
		for i := range list.Items {
			if ready := list.Items[i].Status.GetCondition(apis.ConditionReady); !ready.IsTrue() {
				return fmt.Errorf("%s is not: %+v", list.Items[i].Name, ready)
			}
		}
		return nil
	})
}
