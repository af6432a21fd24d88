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
