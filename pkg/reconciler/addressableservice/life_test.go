/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	fakekubeclient "knative.dev/pkg/client/injection/kube/client/fake"
	serviceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/service"
)

// A test of docs/explanation/reconciliation.md compares the code that these two tests execute: the difference is executed for one object
// between its event and its status update.

func TestLife_NoObject_NothingHappens(t *testing.T) {
	runWithTarget(t)
}

func TestLife_OneObject_BecomesReady(t *testing.T) {
	r := runWithTarget(t)
	r.create(t, object("a"))
	r.becomes(t, "a", "http://"+host)
}

func runWithTarget(t *testing.T) *running {
	t.Helper()
	r := run(t)
	if _, err := fakekubeclient.Get(r.ctx).CoreV1().Services(ns).Create(r.ctx, service(ns, "target"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(r.ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(context.Context) (bool, error) {
		_, err := serviceinformer.Get(r.ctx).Lister().Services(ns).Get("target")
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("the cache lacks the target: %v", err)
	}
	return r
}
