//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const ofNamespaces, ofObjects = "namespaces.binding.webhook.samples.knative.dev", "objects.binding.webhook.samples.knative.dev"

// TestBindingWebhook_Stopped_RequestsAreCountedAndRejected is one sequence: it counts the webhook calls of a separate API server, and then
// stops the webhook.
func TestBindingWebhook_Stopped_RequestsAreCountedAndRejected(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 1), harness.WithReplicas("controller", 1))
	s := newSubjects(t, env, include)
	elsewhere := newSubjects(t, env)
	before := env.Admissions(t)
	asked := func() [2]int {
		now := env.Admissions(t)
		return [2]int{now[ofNamespaces] - before[ofNamespaces], now[ofObjects] - before[ofObjects]}
	}

	// Without a binding no webhook is called.
	s.create(t, deployments, deployments.object("early"))
	if got := asked(); got != [2]int{} {
		t.Errorf("without a binding the webhooks are called %v times", got)
	}
	binding := s.bound(t, deployments)
	s.Await(t, binding, harness.Ready, boundTo(1))

	write := func(k bindable, of *subjects, name, patch string, subresources ...string) error {
		_, err := of.of(k).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
		return err
	}
	before = env.Admissions(t)
	s.create(t, deployments, deployments.object("it"))
	if got := asked(); got != [2]int{1, 0} {
		t.Errorf("for one new subject the webhooks are called %v times, want once", got)
	}
	for _, err := range []error{
		write(deployments, s, "it", `{"spec": {"replicas": 3}}`, "scale"),
		write(deployments, s, "it", `{"status": {"replicas": 3}}`, "status"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	s.Await(t, binding, harness.Ready, boundTo(2))
	if got := asked(); got != [2]int{1, 0} {
		t.Errorf("after its scale and status were written the webhooks have been called %v times, want once in all", got)
	}

	env.Process(t, "webhook").Kill(t)
	dead := func(k bindable, of *subjects, name string, labels ...string) error {
		object := k.object(name)
		own := object.GetLabels()
		for _, label := range labels {
			own[label] = "true"
		}
		object.SetLabels(own)
		_, err := of.of(k).Create(t.Context(), object, metav1.CreateOptions{})
		return err
	}
	for what, rejected := range map[string]struct {
		webhook string
		err     error
	}{
		"a new subject":               {ofNamespaces, dead(deployments, s, "late")},
		"one that opts in by itself":  {ofObjects, dead(deployments, elsewhere, "late", include)},
		"a change of an existing one": {ofNamespaces, write(deployments, s, "it", `{"metadata": {"annotations": {"a": "b"}}}`)},
	} {
		if rejected.err == nil || !strings.Contains(rejected.err.Error(), `failed calling webhook "`+rejected.webhook+`"`) {
			t.Errorf("%s while no webhook runs: got error %v, want one that names %s", what, rejected.err, rejected.webhook)
		}
	}
	for what, err := range map[string]error{
		"one that opts out":               dead(deployments, s, "out", exclude),
		"one without opt-in":              dead(deployments, elsewhere, "in"),
		"one of a kind without a binding": dead(cronJobs, s, "other"),
		"scaling":                         write(deployments, s, "it", `{"spec": {"replicas": 4}}`, "scale"),
		"a status":                        write(deployments, s, "it", `{"status": {"replicas": 4}}`, "status"),
		"deleting":                        s.of(deployments).Delete(t.Context(), "early", metav1.DeleteOptions{}),
	} {
		if err != nil {
			t.Errorf("%s while no webhook runs: %v", what, err)
		}
	}
	// The webhook is not called for the controller's writes.
	const second = "http://second.example.com"
	s.setAddress(t, harness.Ref{Resource: resource, Namespace: s.namespace, Name: "hello"}, second)
	s.Await(t, s.ref(deployments, "it"), func(o *unstructured.Unstructured) error {
		if strings.Count(specOf(o), second) != 2 {
			return fmt.Errorf("it is %s", specOf(o))
		}
		return nil
	})

	env.Process(t, "webhook").Start(t)
	if got := s.create(t, deployments, deployments.object("late")); strings.Count(specOf(got), second) != 2 {
		t.Errorf("once it is back, a new subject is %s", specOf(got))
	}
}
