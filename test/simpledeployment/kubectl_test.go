/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func TestKubectl_Scale_ChangesReplicas(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 1)
	env.Kubectl(t, "scale", "sdeploy/it", "--replicas=3", "--namespace="+ns)
	exactly(t, env, ref, "one", 3)
	env.Kubectl(t, "scale", "sdeploy/it", "--current-replicas=3", "--replicas=0", "--namespace="+ns)
	exactly(t, env, ref, "one", 0)
	for flags, want := range map[string]string{
		"--replicas=1001": "spec.replicas", "--replicas=-1": "replicas", "--current-replicas=3 --replicas=1": "Expected replicas to be 3, was 0",
	} {
		if _, err := env.TryKubectl(t, "", append(strings.Fields(flags), "scale", "sdeploy/it", "--namespace="+ns)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", flags, err, want)
		}
	}
	exactly(t, env, ref, "one", 0)
}

// TestKubectl_DeleteWithoutPods_NewObjectDoesNotCountThem recreates an object whose Pods were orphaned.
func TestKubectl_DeleteWithoutPods_NewObjectDoesNotCountThem(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	deploy(t, env, ns, "one", 2)
	env.Kubectl(t, "delete", "sdeploy/it", "--cascade=orphan", "--namespace="+ns)
	exactly(t, env, deploy(t, env, ns, "one", 1), "one", 1)
	if all, _ := pods(t, env, ns); len(all) != 3 {
		t.Errorf("there are %d Pods, want the two orphans and one of the new object:%v", len(all), all)
	}
}

// TestAutoscaler_ScaleSubresource_IsComplete does what a HorizontalPodAutoscaler does: it reads the scale subresource, selects the Pods that it
// names, and writes another number.
func TestAutoscaler_ScaleSubresource_IsComplete(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 2)
	client := env.Dynamic.Resource(ref.Resource).Namespace(ns)
	scale, err := client.Get(t.Context(), "it", metav1.GetOptions{}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	fields := func(path ...string) any {
		value := any(scale.Object)
		for _, name := range path {
			value = value.(map[string]any)[name]
		}
		return value
	}
	selector, _ := fields("status", "selector").(string)
	if want := samples.PodOwnerUIDLabelKey + "=" + uid(t, env, ref); selector != want || fields("status", "replicas") != int64(2) || fields("spec", "replicas") != int64(2) {
		t.Fatalf("the scale is %v, want 2 replicas and the selector %s", scale.Object, want)
	}
	found, err := env.Kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil || len(found.Items) != 2 {
		t.Fatalf("the selector finds %d Pods, want 2 (%v)", len(found.Items), err)
	}
	scale.Object["spec"] = map[string]any{"replicas": int64(4)}
	if _, err := client.Update(t.Context(), scale, metav1.UpdateOptions{}, "scale"); err != nil {
		t.Fatal(err)
	}
	exactly(t, env, ref, "one", 4)
}

func TestKubectl_WaitForRollout_Returns(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "image-0", 3)
	for _, image := range []string{"image-1", "image-2", "image-3", "image-4", "image-5"} {
		change(t, env, ref, `{"image": "`+image+`"}`)
		env.Kubectl(t, "wait", "--for=condition=Ready", "sdeploy/it", "--timeout=30s", "--namespace="+ns)
		s, _ := pods(t, env, ns)
		active := s.active(uid(t, env, ref))
		for _, pod := range active {
			if pod.Spec.Containers[0].Image != image || !ready(pod) {
				t.Fatalf("kubectl wait has returned before the rollout of %s was done:%v", image, s)
			}
		}
		if len(active) != 3 {
			t.Fatalf("kubectl wait has returned with %d Pods:%v", len(active), s)
		}
	}
}

func TestKubectl_GetColumns_AreShown(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	deploy(t, env, ns, "one", 2)
	lines := strings.Split(env.Kubectl(t, "get", "sdeploy", "--output=wide", "--namespace="+ns), "\n")
	for i, want := range []string{"NAME READY REASON DESIRED UP-TO-DATE AVAILABLE AGE IMAGE", "it True 2 2 2"} {
		if got := strings.Join(strings.Fields(lines[i]), " "); !strings.HasPrefix(got, want) {
			t.Errorf("line %d is %q, want %q", i+1, got, want)
		}
	}
	if got := env.Kubectl(t, "get", "all,knative", "--namespace="+ns); !strings.Contains(got, "simpledeployment.samples.knative.dev/it") {
		t.Errorf("kubectl get all,knative does not list it:\n%s", got)
	}
}
