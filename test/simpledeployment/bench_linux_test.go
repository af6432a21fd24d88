//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// benched is the number of Pods that one round creates, and then replaces one after the other.
const benched = 50

// BenchmarkPods compares a SimpleDeployment with a Deployment of Kubernetes that may surge by one Pod and lack none, on the same
// control plane, each round one after the other: how long each takes from its creation until all Pods are ready, and from another
// image until all have been replaced. The metrics say how much slower (above 1) or faster the SimpleDeployment is.
func BenchmarkPods(b *testing.B) {
	// The controllers of Deployments and the like run in a cluster that has a registry.
	env := harness.Own(b, harness.WithImages())
	var theirs, ours struct{ made, replaced time.Duration }
	for b.Loop() {
		ns := env.Namespace(b)
		start := time.Now()
		deployment := env.Apply(b, ns, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: it}
spec:
  replicas: %d
  selector: {matchLabels: {app: it}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template: {metadata: {labels: {app: it}}, spec: {containers: [{name: user-container, image: one}]}}
`, benched))[0]
		env.Await(b, deployment, rolledOut)
		theirs.made += time.Since(start)
		start = time.Now()
		env.Patch(b, deployment, `{"spec": {"template": {"spec": {"containers": [{"name": "user-container", "image": "two"}]}}}}`)
		env.Await(b, deployment, rolledOut)
		theirs.replaced += time.Since(start)

		ns = env.Namespace(b)
		start = time.Now()
		ref := env.Apply(b, ns, object("it", "one", benched))[0]
		env.Await(b, ref, harness.Ready)
		ours.made += time.Since(start)
		start = time.Now()
		env.Patch(b, ref, `{"spec": {"image": "two"}}`)
		env.Await(b, ref, harness.Ready)
		ours.replaced += time.Since(start)
	}
	b.ReportMetric(ours.made.Seconds()/theirs.made.Seconds(), "made/deployment")
	b.ReportMetric(ours.replaced.Seconds()/theirs.replaced.Seconds(), "replaced/deployment")
}

// rolledOut is the condition that `kubectl rollout status` waits for.
func rolledOut(o *unstructured.Unstructured) error {
	if o == nil {
		return errors.New("it does not exist")
	}
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if observed != o.GetGeneration() {
		return errors.New("its status is not of the present generation")
	}
	for _, field := range []string{"replicas", "updatedReplicas", "availableReplicas"} {
		if n, _, _ := unstructured.NestedInt64(o.Object, "status", field); n != benched {
			return fmt.Errorf("%s is %d, want %d", field, n, benched)
		}
	}
	return nil
}
