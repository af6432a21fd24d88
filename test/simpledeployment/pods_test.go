/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

func TestSimpleDeployment_TerminatingPodThatHangs_IsReplaced(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 1)
	hanging := podRef(ns, onePod(t, env, ref))
	env.Patch(t, hanging, `{"metadata": {"finalizers": ["example.com/hangs"]}}`)
	env.Delete(t, hanging)
	harness.Eventually(t, "another Pod", func(context.Context) error {
		s, _ := pods(t, env, ns)
		if active := s.active(uid(t, env, ref)); len(active) != 1 || !ready(active[0]) {
			return errors.New(s.String())
		}
		return nil
	})
	settles(t, env, ref)
	exactly(t, env, ref, "one", 1)
	env.Await(t, hanging, harness.Exists)
	env.Patch(t, hanging, `{"metadata": {"finalizers": null}}`)
	env.Await(t, hanging, harness.Deleted)
	exactly(t, env, ref, "one", 1)
}

func TestSimpleDeployment_TerminatedPods_AreReplaced(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for _, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodSucceeded} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			ns := env.Namespace(t)
			ref := deploy(t, env, ns, "one", 1)
			replaces(t, env, ref, phase)
			exactly(t, env, ref, "one", 1)
		})
	}
}

// replaces ends the only Pod of an object, waits until another one is ready, and returns the one that has ended.
func replaces(t *testing.T, env *harness.Env, ref harness.Ref, phase corev1.PodPhase) harness.Ref {
	t.Helper()
	ended := podRef(ref.Namespace, onePod(t, env, ref))
	env.Patch(t, ended, `{"status": {"phase": "`+string(phase)+`"}}`, "status")
	harness.Eventually(t, "another Pod", func(context.Context) error {
		s, _ := pods(t, env, ref.Namespace)
		if active := s.active(uid(t, env, ref)); len(active) != 1 || active[0].Name == ended.Name || !ready(active[0]) {
			return errors.New(s.String())
		}
		return nil
	})
	settles(t, env, ref)
	return ended
}

// No event shows that a quota has room again, so that a failed creation is retried with exponential back-off.
func TestSimpleDeployment_QuotaIsRaised_CreatesTheMissingPod(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	quota := env.Apply(t, ns, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {pods: 1}}\n")[0]
	ref := env.Apply(t, ns, object("it", "one", 2))[0]
	env.Await(t, ref, says(v1alpha1.ReasonCreateFailed, "exceeded quota"))
	env.Patch(t, quota, `{"spec": {"hard": {"pods": "2"}}}`)
	env.Await(t, ref, harness.Ready)
	exactly(t, env, ref, "one", 2)
}

func TestSimpleDeployment_PodLosesItsLabel_IsReleasedAndReplaced(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 2)
	owner := uid(t, env, ref)
	before, _ := pods(t, env, ns)
	for _, value := range []string{`null`, `"changed"`} {
		s, _ := pods(t, env, ns)
		name := s.active(owner)[0].Name
		throughout(t, env, ns, within(owner, 3, 1), func() {
			env.Patch(t, podRef(ns, name), `{"metadata": {"labels": {"`+samples.PodOwnerUIDLabelKey+`": `+value+`}}}`)
			settlesAt(t, env, ref, 2)
		})
	}
	exactly(t, env, ref, "one", 2)
	after, _ := pods(t, env, ns)
	for name, pod := range before {
		released := after[name]
		if released == nil || released.UID != pod.UID || released.DeletionTimestamp != nil || metav1.GetControllerOf(released) == nil {
			t.Errorf("the released Pod %s is not what it was: %v", name, released)
		}
	}

	// A Pod that gets its label back is the object's again, and one of the three goes.
	for name := range before {
		env.Patch(t, podRef(ns, name), `{"metadata": {"labels": {"`+samples.PodOwnerUIDLabelKey+`": "`+owner+`"}}}`)
	}
	settlesAt(t, env, ref, 2)
	exactly(t, env, ref, "one", 2)
}

// settlesAt waits until an object has so many active Pods, each of them ready, and is Ready.
func settlesAt(t *testing.T, env *harness.Env, ref harness.Ref, replicas int) {
	t.Helper()
	harness.Eventually(t, "as many Pods as desired", func(context.Context) error {
		s, _ := pods(t, env, ref.Namespace)
		active := s.active(uid(t, env, ref))
		if len(active) != replicas || !ready(active[0]) || !ready(active[len(active)-1]) {
			return errors.New(s.String())
		}
		return nil
	})
	settles(t, env, ref)
}

func TestSimpleDeployment_ServiceSelectsTheNameLabel_EveryPodIsAnEndpoint(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 2)
	env.Apply(t, ns, object("another", "one", 1))
	env.Apply(t, ns, `
apiVersion: v1
kind: Service
metadata: {name: it}
spec:
  selector: {samples.knative.dev/simpledeployment: it}
  ports: [{port: 80}]
`)
	for _, replicas := range []int{2, 3, 1} {
		change(t, env, ref, fmt.Sprintf(`{"replicas": %d}`, replicas))
		harness.Eventually(t, "an endpoint for each Pod", func(ctx context.Context) error {
			list, err := env.Kube.DiscoveryV1().EndpointSlices(ns).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=it"})
			if err != nil {
				return err
			}
			s, _ := pods(t, env, ns)
			var wanted, got []string
			for _, pod := range s.active(uid(t, env, ref)) {
				wanted = append(wanted, pod.Name)
			}
			for i := range list.Items {
				for _, endpoint := range list.Items[i].Endpoints {
					got = append(got, endpoint.TargetRef.Name)
				}
			}
			slices.Sort(got)
			if len(wanted) != replicas || !slices.Equal(got, wanted) {
				return fmt.Errorf("the endpoints are %v, the Pods %v", got, wanted)
			}
			return nil
		})
	}
}

// untouched fails if the operator wrote to Pods, or they are not what they were.
func untouched(t *testing.T, env *harness.Env, ns string, mark harness.Mark, strangers map[string]*corev1.Pod) {
	t.Helper()
	now, _ := pods(t, env, ns)
	for name, was := range strangers {
		is := now[name]
		if is == nil || is.UID != was.UID || is.Generation != was.Generation || len(is.Labels) != len(was.Labels) || len(is.OwnerReferences) != len(was.OwnerReferences) {
			t.Errorf("Pod %s is not what it was: %v", name, is)
		}
	}
	for _, e := range mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller"))) {
		if strangers[e.Name] != nil && e.Resource == "pods" && e.Code < 300 {
			t.Errorf("the operator wrote to Pod %s: %+v", e.Name, e)
		}
	}
}

func TestSimpleDeployment_ForeignPodHasTheName_AnotherNameIsGiven(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 1)
	name := onePod(t, env, ref)
	change(t, env, ref, `{"replicas": 0}`)
	env.Await(t, podRef(ns, name), harness.Deleted)
	mark := env.Mark(t)
	// It is as ours would be.
	stranger, err := env.Kube.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "user-container", Image: "one"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(t, env, ref, `{"replicas": 1}`)
	exactly(t, env, ref, "one", 1)
	untouched(t, env, ns, mark, map[string]*corev1.Pod{name: stranger})
}
