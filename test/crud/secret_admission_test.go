/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// Both quote the object: a policy by its message expression, and a webhook in each field of its answer.
const admission = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS-$NAME}
spec:
  matchConstraints: &selected
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    objectSelector: {matchLabels: {admission: $ACTION}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets]}]
  validations: [{expression: "false", messageExpression: "string(object.data.password)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS-$NAME}
spec: {policyName: $NS-$NAME, validationActions: [$ACTION]}
`

const webhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NS}
webhooks:
  - name: quotes.example.com
    clientConfig: {url: $URL, caBundle: $CA}
    admissionReviewVersions: [v1]
    sideEffects: None
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    objectSelector: {matchLabels: {admission: Webhook}}
    rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets]}]
`

// quoting denies each request, and quotes its object.
func quoting(w http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	quoted := string(review.Request.Object.Raw)
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Warnings: []string{quoted}, Result: &metav1.Status{
		Reason: metav1.StatusReason(quoted), Message: quoted, Details: &metav1.StatusDetails{
			Name: quoted, Kind: quoted, UID: types.UID(quoted), Causes: []metav1.StatusCause{{Type: metav1.CauseType(quoted), Message: quoted, Field: quoted}},
		},
	}}
	_ = json.NewEncoder(w).Encode(review) //nolint:errchkjson // the API server reports it
}

func TestSecret_AdmissionQuotesTheObject_MessageNamesWhoDenies(t *testing.T) {
	s := newScene(t, quick)
	server := httptest.NewTLSServer(http.HandlerFunc(quoting))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	encoded, err := json.Marshal(ca)
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"Deny", "Warn"} {
		s.env.Define(t, strings.NewReplacer("$NS", s.ns, "$ACTION", action, "$NAME", strings.ToLower(action)).Replace(admission))
	}
	s.env.Define(t, strings.NewReplacer("$NS", s.ns, "$URL", server.URL, "$CA", string(encoded)).Replace(webhook))
	r := newRejected(s, "Secret", harness.Canary(t))
	trying, err := crud.New(s.config, crud.Options{FieldManager: "crud-test", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	label := func(action string) string { return fmt.Sprintf(`{"metadata":{"labels":{"admission":%q}}}`, action) }
	for _, action := range []string{"Deny", "Webhook"} {
		harness.Eventually(t, action+" denies", func(ctx context.Context) error {
			if _, err := trying.Run(ctx, crud.MergePatch(s.ref("Secret", "leak"), label(action))); err == nil {
				return errors.New("the patch is not denied")
			}
			return nil
		})
	}
	for action, want := range map[string]string{
		"Deny":    fmt.Sprintf("secrets \"leak\" is forbidden: ValidatingAdmissionPolicy '%s-deny' with binding '%s-deny' denied request", s.ns, s.ns),
		"Webhook": `admission webhook "quotes.example.com" denied the request`,
	} {
		labels := fmt.Sprintf(`[{"op":"add","path":"/metadata/labels","value":{"admission":%q}}]`, action)
		for _, op := range []crud.Operation{
			crud.MergePatch(s.ref("Secret", "leak"), label(action)),
			crud.JSONPatch(s.ref("Secret", "leak"), labels),
			crud.JQPatch(s.ref("Secret", "leak"), fmt.Sprintf(".metadata.labels.admission = %q", action)),
			crud.CreateOrUpdate(s.object(fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: leak, labels: {admission: %s}}}", action))),
			crud.Create(s.object(fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: leak2, labels: {admission: %s}}, stringData: {password: %q}}", action, r.value))),
		} {
			result, err := s.client.Run(t.Context(), op)
			if err == nil || !strings.HasSuffix(strings.ReplaceAll(err.Error(), "leak2", "leak"), want) {
				t.Errorf("%s: got %v, want %s", op, err, want)
			}
			r.clean(op.String(), everything(err)+strings.Join(result.Warnings, "\n"))
		}
	}
	warning := fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s-warn' with binding '%s-warn'", s.ns, s.ns)
	harness.Eventually(t, "a policy warns", func(ctx context.Context) error {
		result, err := trying.Run(ctx, crud.MergePatch(s.ref("Secret", "leak"), label("Warn")))
		if err == nil && (len(result.Warnings) != 1 || result.Warnings[0] != warning) {
			err = fmt.Errorf("the warnings are %q, want %s", result.Warnings, warning)
		}
		return err
	})
}
