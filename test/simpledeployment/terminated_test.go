//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// protect makes the API server reject deletions of Pods with the label keep in a namespace.
func protect(t *testing.T, env *harness.Env, ns string) {
	t.Helper()
	env.ExpectErrors(t, "keep-"+ns)
	env.Define(t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: keep-%[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [DELETE]}]
  validations: [{expression: "!('keep' in oldObject.metadata.labels)", message: it is kept}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: keep-%[1]s}
spec: {policyName: keep-%[1]s, validationActions: [Deny]}
`, ns))
}

func TestSimpleDeployment_TerminatedPodThatCannotBeDeleted_BlocksNothing(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 2)
	protect(t, env, ns)
	s, _ := pods(t, env, ns)
	kept := podRef(ns, s.active(uid(t, env, ref))[0].Name)
	env.Patch(t, kept, `{"metadata": {"labels": {"keep": ""}}}`)
	rejected(t, env, kept)
	env.Patch(t, kept, `{"status": {"phase": "Failed"}}`, "status")
	env.Await(t, ref, says("DeleteFailed", "it is kept"))

	change(t, env, ref, `{"image": "two"}`)
	harness.Eventually(t, "two Pods of the new image", func(context.Context) error {
		s, _ := pods(t, env, ns)
		active := s.active(uid(t, env, ref))
		if len(active) != 2 || s[kept.Name] == nil {
			return errors.New(s.String())
		}
		for _, pod := range active {
			if pod.Spec.Containers[0].Image != "two" || !ready(pod) {
				return errors.New(s.String())
			}
		}
		return nil
	})
	env.Await(t, ref, says("DeleteFailed", "it is kept"))

	env.Patch(t, kept, `{"metadata": {"labels": {"keep": null}}}`)
	env.Await(t, kept, harness.Deleted)
	exactly(t, env, ref, "two", 2)
}

// TestSimpleDeployment_SeveralPodsThatCannotBeDeleted_MakeNoHotLoop is about a status that would name another one of them each time.
func TestSimpleDeployment_SeveralPodsThatCannotBeDeleted_MakeNoHotLoop(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 12)
	protect(t, env, ns)
	s, _ := pods(t, env, ns)
	kept := s.active(uid(t, env, ref))
	for _, pod := range kept {
		env.Patch(t, podRef(ns, pod.Name), `{"metadata": {"labels": {"keep": ""}}}`)
	}
	rejected(t, env, podRef(ns, kept[0].Name))
	for _, pod := range kept {
		env.Patch(t, podRef(ns, pod.Name), `{"status": {"phase": "Failed"}}`, "status")
	}
	env.Await(t, ref, says("DeleteFailed", "it is kept"))
	mark, began := env.Mark(t), time.Now()
	var tries int
	// Over less than that a loop would not show.
	const window = 5 * time.Second
	harness.Eventually(t, "some tries to delete one of them, and a while", func(context.Context) error {
		tries = len(mark.Entries(t, harness.ByUser(env.User("controller")), harness.ByRequest(harness.Matching("delete", "pods").And(harness.InNamespace(ns)))))
		if tries < 2 || time.Since(began) < window {
			return fmt.Errorf("there were %d", tries)
		}
		return nil
	})
	// A reconciliation tries one of them, and there is at most one a second.
	if most := 2 + int(time.Since(began)/time.Second); tries > most {
		t.Errorf("there were %d tries within %v, want at most %d: that is a hot loop", tries, time.Since(began), most)
	}
	t.Logf("%d tries to delete %d Pods within %v", tries, len(kept), time.Since(began))
	for _, pod := range kept {
		env.Patch(t, podRef(ns, pod.Name), `{"metadata": {"labels": {"keep": null}}}`)
	}
	for _, pod := range kept {
		env.Await(t, podRef(ns, pod.Name), harness.Deleted)
	}
	settles(t, env, ref)
	exactly(t, env, ref, "one", 12)
}

// rejected waits until the API server rejects the deletion of a Pod.
func rejected(t *testing.T, env *harness.Env, pod harness.Ref) {
	t.Helper()
	harness.Eventually(t, "the policy is in force", func(ctx context.Context) error {
		err := env.Kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			return fmt.Errorf("deleting the Pod is answered with: %w", errors.Join(err))
		}
		return nil
	})
}
