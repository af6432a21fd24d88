//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"errors"
	"math/rand"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestSimpleDeployment_WatchDelayedBy300Milliseconds_KeepsItsBounds(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	proxy := env.Proxy(t, "controller")
	for _, resource := range []string{"pods", "simpledeployments"} {
		proxy.DelayWatches(harness.Matching("watch", resource), 300*time.Millisecond)
	}
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 3)
	owner := uid(t, env, ref)
	throughout(t, env, ns, within(owner, 4, 3), func() {
		change(t, env, ref, `{"image": "two"}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "two", 3)
	throughout(t, env, ns, within(owner, 6, 3), func() {
		change(t, env, ref, `{"image": "three", "replicas": 5}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "three", 5)
	throughout(t, env, ns, within(owner, 6, 2), func() {
		change(t, env, ref, `{"image": "four", "replicas": 2}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "four", 2)
	// With many events each of which is late the Pods come and go under its eyes.
	s, _ := pods(t, env, ns)
	throughout(t, env, ns, within(owner, 3, 0), func() {
		for _, pod := range s.active(owner) {
			env.Delete(t, podRef(ns, pod.Name))
		}
		harness.Eventually(t, "two other Pods", func(context.Context) error {
			now, _ := pods(t, env, ns)
			others := 0
			for _, pod := range now.active(owner) {
				if before := s[pod.Name]; ready(pod) && (before == nil || before.UID != pod.UID) {
					others++
				}
			}
			if others != 2 {
				return errors.New(now.String())
			}
			return nil
		})
		// Until the watch delivers events, the status is unchanged.
		settles(t, env, ref)
	})
	exactly(t, env, ref, "four", 2)
}

func TestSimpleDeployment_ProcessKilledRandomly_KeepsItsBounds(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "image-0", 5)
	controller := env.Process(t, "controller")
	seed := time.Now().UnixNano()
	t.Logf("the seed of the moments is %d", seed)
	r := rand.New(rand.NewSource(seed))
	const kills = 6
	last := ""
	throughout(t, env, ns, within(uid(t, env, ref), 6, 5), func() {
		for i := range kills {
			last = "image-" + string(rune('1'+i))
			change(t, env, ref, `{"image": "`+last+`"}`)
			// A moment in the middle of a rollout, which takes some hundred milliseconds.
			timer := time.NewTimer(time.Duration(r.Intn(200)) * time.Millisecond)
			<-timer.C
			controller.Kill(t)
			env.ExpireLeases(t, controller)
			controller.Start(t)
		}
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, last, 5)
}

func TestSimpleDeployment_QuotaExhausted_ReportsItAndConverges(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	quotas := env.Kube.CoreV1().ResourceQuotas(ns)
	quota, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mark, start := env.Mark(t), time.Now()
	ref := env.Apply(t, ns, object("it", "one", 4))[0]
	throughout(t, env, ns, within(uid(t, env, ref), 4, 0), func() {
		env.Await(t, ref, says("CreateFailed", "exceeded quota: few"))
		// Two exist and stay, however often it is retried.
		harness.Eventually(t, "two Pods, and tries after that", func(context.Context) error {
			tries := mark.Entries(t, harness.ByUser(env.User("controller")), harness.ByRequest(harness.Matching("patch", "pods").And(harness.InNamespace(ns))))
			if s, _ := pods(t, env, ns); len(s.active(uid(t, env, ref))) != 2 || len(tries) < 4 {
				return errors.New(s.String())
			}
			return nil
		})
	})
	tries := mark.Entries(t, harness.ByUser(env.User("controller")), harness.ByRequest(harness.Matching("patch", "pods").And(harness.InNamespace(ns))))
	// Two make Pods. Each event of these two, of which each has a handful, may be a try, and then there is one a second at most.
	if most := 14 + int(time.Since(start)/time.Second); len(tries) > most {
		t.Errorf("there were %d tries within %v, want at most %d: that is a hot loop", len(tries), time.Since(start), most)
	}
	t.Logf("%d requests to make a Pod within %v", len(tries), time.Since(start))
	quota.Spec.Hard[corev1.ResourcePods] = resource.MustParse("10")
	quota.ResourceVersion = ""
	if _, err := quotas.Update(t.Context(), quota, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	env.Await(t, ref, harness.Ready)
	exactly(t, env, ref, "one", 4)
}

func TestSimpleDeployment_PodsRejectedByAdmission_ReportsIt(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	namespace := harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("namespaces"), Name: ns}
	env.ExpectErrors(t, ns)
	env.Patch(t, namespace, `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
	ref := env.Apply(t, ns, object("it", "one", 2))[0]
	env.Await(t, ref, says("CreateFailed", "violates PodSecurity"))
	env.Patch(t, namespace, `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": null}}}`)
	env.Await(t, ref, harness.Ready)
	exactly(t, env, ref, "one", 2)
}
