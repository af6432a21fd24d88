/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// reject has admission reject writes of our field manager to the workers of a group that have the label kept, with the code with which a
// missing permission is answered, too.
func (w *world) reject(t *testing.T, group string) {
	t.Helper()
	w.Define(t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [%[1]s], apiVersions: [v1], resources: [workers], operations: [UPDATE]}]}
  validations: [{expression: "!('kept' in oldObject.metadata.labels)", message: it is kept, reason: Forbidden}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, group))
}

// oneIsRejected has admission reject one of two subjects. The other one is bound.
func (w *world) oneIsRejected(t *testing.T, group string) {
	t.Helper()
	w.reject(t, group)
	refs := w.Apply(t, w.ns, worker(group, "a", withContainers)+"---\n"+worker(group, "b", withContainers))
	w.Patch(t, refs[0], `{"metadata": {"labels": {"kept": ""}}}`)
	harness.Eventually(t, "the policy is in force", func(ctx context.Context) error {
		_, err := w.Dynamic.Resource(refs[0].Resource).Namespace(w.ns).Patch(ctx, "a", types.MergePatchType, []byte(`{"spec": {"x": "y"}}`),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("a change is answered with: %w", errors.Join(err))
		}
		return nil
	})
	ab := w.bind(t, "b", fmt.Sprintf("{apiVersion: %s/v1, kind: Worker, selector: {matchLabels: {bound: to-it}}}", group))
	w.Await(t, ab, notBound("BindFailed"), counts(2, 1))
	w.Await(t, refs[1], has(address))
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
	w.Await(t, refs[1], has(""))
}

// TestAddressBinding_NoPermissionToPatch_IsDistinguishedFromAdmission shows the text by which the operator distinguishes a missing
// permission from a rejection by admission.
func TestAddressBinding_NoPermissionToPatch_IsDistinguishedFromAdmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	const group = "read-only.example.com"
	w.Define(t, workerCRD(group, anything, false))
	w.Define(t, strings.Replace(grant(group), "[list, watch, patch]", "[list, watch]", 1))
	k := w.Apply(t, w.ns, worker(group, "k", withContainers))[0]
	ab := w.bind(t, "b", toWorker(group, "k"))
	w.Await(t, ab, notBound("SubjectForbidden"), counts(1, 0))
	w.Apply(t, "", grant(group))
	w.Await(t, k, has(address))
	w.Await(t, ab, harness.Ready)
}
