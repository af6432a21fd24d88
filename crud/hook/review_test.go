/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/confidential"
)

func TestDecodeResponse_AllFields_AreThoseOfShellOperator(t *testing.T) {
	const patch = `[{"op": "add", "path": "/spec/replicas", "value": 333}]`
	want := &Response{Allowed: true, Message: "m", Warnings: []string{"a", "b"}, Patch: []byte(patch)}
	got, err := decodeResponse(fmt.Appendf(nil, "{\"allowed\": true, \"message\": \"m\", \"warnings\": [\"a\", \"b\"], \"patch\": %q}\n",
		base64.StdEncoding.EncodeToString([]byte(patch))))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n-want, +got:\n%s", err, diff)
	}
	if got, err := decodeResponse([]byte(" \n")); got != nil || err != nil {
		t.Errorf("an empty file is %v, %v, want no response", got, err)
	}
}

func TestDecodeResponse_Nonsense_IsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"yes":                                 "decoding it",
		"[]":                                  "decoding it",
		`{"allowed": "true"}`:                 "decoding it",
		`{"allowed": true`:                    "decoding it",
		`{"allowed": true} {}`:                "decoding it",
		`{"allowed": true, "patch": "[{}]"}`:  "decoding it",
		`{}`:                                  "allowed: it is missing",
		`{"message": "m"}`:                    "allowed: it is missing",
		`{"allowed": false, "mesage": "m"}`:   `unknown field "mesage"`,
		`{"allowed": false, "allowed": true}`: `duplicate field "allowed"`,
	} {
		if got, err := decodeResponse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v, want the error %q", text, got, err, want)
		}
	}
}

func TestResponse_PatchTheAPIServerCannotExecute_IsAnError(t *testing.T) {
	object := runtime.RawExtension{Raw: []byte(`{"metadata": {"name": "a"}}`)}
	bomb := `[{"op": "add", "path": "/a", "value": ["aaaaaaaa"]}` + strings.Repeat(`,{"op": "copy", "from": "/a", "path": "/a/0"}`, 40) + "]"
	for _, tc := range []struct {
		kind    ContextType
		patch   string
		request admissionv1.AdmissionRequest
		want    string
	}{
		{TypeMutating, `[{"op": "add", "path": "/metadata/labels", "value": {}}]`, admissionv1.AdmissionRequest{Object: object}, ""},
		{TypeValidating, `[]`, admissionv1.AdmissionRequest{Object: object}, "only a binding in kubernetesMutating"},
		{TypeMutating, `[]`, admissionv1.AdmissionRequest{Operation: "DELETE"}, "a request with operation DELETE has no object"},
		{TypeMutating, `{}`, admissionv1.AdmissionRequest{Object: object}, "it is no JSON patch"},
		{TypeMutating, `[{"op": "add", "path": "/spec/a", "value": 1}]`, admissionv1.AdmissionRequest{Object: object}, "executing it"},
		{TypeMutating, bomb, admissionv1.AdmissionRequest{Object: object}, "executing it: operation 19: Unable to complete the copy"},
	} {
		err := (&Response{Allowed: true, Patch: []byte(tc.patch)}).check(t.Context(), tc.kind, &tc.request)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%.60s: the error is %v, want %q", tc.patch, err, tc.want)
		}
	}
}

func TestResponse_Secrets_AreMaskedInMessageAndWarnings(t *testing.T) {
	var values confidential.Values
	values.Add(&corev1.Secret{StringData: map[string]string{"password": "hunter2"}})
	response := (&Response{Message: "not hunter2", Warnings: []string{"hunter2 is short"}}).toAPI(&values)
	if response.Result.Message != "not ***" || response.Warnings[0] != "*** is short" {
		t.Errorf("the response is %v", response)
	}
}
