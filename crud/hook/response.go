/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud/internal/child"
)

// Response is the answer to an admission review. Its JSON is that of shell-operator.
type Response struct {
	Allowed bool `json:"allowed"`
	// Message is the reason for which a request is denied, and Warnings are shown to the user in any case. Values of Secrets in them are masked.
	Message  string   `json:"message,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Patch is a JSON patch of the object, in base64 in JSON. Only Mutating may have one.
	Patch []byte `json:"patch,omitempty"`
}

const (
	// mostOfResponse bounds the size of a response, as the API server does.
	mostOfResponse = 3 << 20
	answerAdvice   = "write a response with the field allowed to the file $" + responseVariable
)

// decodeResponse decodes the file of a response. It is nil if the file is empty.
func decodeResponse(content []byte) (*Response, error) {
	if len(content) > mostOfResponse {
		return nil, fmt.Errorf("it has more than %d bytes", mostOfResponse)
	}
	if len(strings.TrimSpace(string(content))) == 0 {
		return nil, nil //nolint:nilnil // the hook did not answer
	}
	var decoded struct {
		Response `json:",inline"`

		Allowed *bool `json:"allowed"`
	}
	strict, err := kjson.UnmarshalStrict(content, &decoded)
	if err != nil {
		return nil, fmt.Errorf("decoding it: %w", err)
	}
	for i, unknown := range strict {
		strict[i] = advised(unknown, reflect.TypeFor[Response]())
	}
	if len(strict) > 0 {
		return nil, errors.Join(strict...)
	}
	if decoded.Allowed == nil {
		return nil, errors.New("allowed: it is missing: " + answerAdvice)
	}
	decoded.Response.Allowed = *decoded.Allowed
	return &decoded.Response, nil
}

// check returns the reason for which the API server could not use a response.
func (r *Response) check(ctx context.Context, kind ContextType, request *admissionv1.AdmissionRequest) error {
	switch {
	case r == nil:
		return errors.New("it did not answer the review: " + answerAdvice)
	case len(r.Patch) == 0 || !r.Allowed:
		return nil
	case kind != TypeMutating:
		return errors.New("patch: only a binding in kubernetesMutating may change the object")
	case len(request.Object.Raw) == 0:
		return fmt.Errorf("patch: a request with operation %s has no object", request.Operation)
	}
	patch, err := jsonpatch.DecodePatch(r.Patch)
	if err != nil {
		return fmt.Errorf("patch: it is no JSON patch: %w", err)
	}
	patched, err := child.Patch(ctx, request.Object.Raw, patch, false)
	if err == nil && patched.Reason != "" {
		err = fmt.Errorf("operation %d: %s", patched.Failed, patched.Reason)
	}
	if err != nil {
		return fmt.Errorf("patch: executing it: %w", err)
	}
	return nil
}

func (r *Response) toAPI(values *confidential.Values) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{Allowed: r.Allowed}
	for _, warning := range r.Warnings {
		response.Warnings = append(response.Warnings, values.Mask(warning))
	}
	switch {
	case !r.Allowed:
		response.Result = &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: values.Mask(r.Message),
		}
	case len(r.Patch) > 0:
		response.Patch, response.PatchType = r.Patch, new(admissionv1.PatchTypeJSONPatch)
	}
	return response
}
