/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/client/clientset/versioned"
)

func TestObject_CreatedWithoutTheWebhook_IsReconciled(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	// Such a label of the namespace exempts it from every webhook of the operator.
	env.Patch(t, harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: ns},
		`{"metadata": {"labels": {"webhooks.knative.dev/exclude": "true"}}}`)
	harness.Eventually(t, "an object is not defaulted", func(ctx context.Context) error {
		as, err := versioned.NewForConfigOrDie(env.Config).SamplesV1().AddressableServices(ns).Create(ctx, &v1.AddressableService{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec:       v1.AddressableServiceSpec{Ref: v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "target"}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && len(as.Finalizers) > 0 {
			err = errors.New("it got a finalizer")
		}
		return err
	})
	mark := env.Mark(t)
	as := env.Apply(t, ns, `
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}]
---
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: it
  annotations: {samples.knative.dev/addressableservice.class: mallard}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
`)[1]
	o := env.Await(t, as, harness.Ready)
	if !slices.Contains(o.GetFinalizers(), samples.FinalizerName) {
		t.Errorf("it has finalizers %v, want %s among them", o.GetFinalizers(), samples.FinalizerName)
	}
	// This is what the finalizer costs that admission sets otherwise. Once knative.dev/pkg fixes it there is no conflict, and ADR 0004 can be reconsidered.
	conflicts := mark.Entries(t, harness.ByUser(env.User("controller")), func(e harness.AuditEntry) bool {
		return e.Namespace == ns && e.Resource == "addressableservices" && e.Code == http.StatusConflict
	})
	if len(conflicts) == 0 {
		t.Errorf("the first reconciliation of an object without the finalizer met no conflict: knative.dev/pkg has fixed it, see docs/adr/0004-finalizer-by-admission.md")
	}
}
