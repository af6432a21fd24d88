/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package confidential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const value = "hunter2-hunter2"

var secrets = schema.GroupResource{Resource: "secrets"}

func invalid(faults ...*field.Error) *apierrors.StatusError {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "leak", faults)
}

func status(code int32, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
}

// The messages are those of the API server of Kubernetes 1.35, with a value wherever it can be.
func TestAnswer_MessageOfTheAPIServer_KeepsTheObjectTheFieldAndTheRemedy(t *testing.T) {
	const object = `{"data":{"password":"` + value + `"},"kind":"Secret"}`
	for _, tc := range []struct {
		err    error
		faults []string
		want   string
	}{
		{apierrors.NewNotFound(secrets, "leak"), nil, `secrets "leak" not found`},
		{apierrors.NewAlreadyExists(secrets, "leak"), nil, `secrets "leak" already exists`},
		{
			apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), object,
				"json: cannot unmarshal number into Go struct field Secret.data of type []uint8")}),
			[]string{"data.z: must be a text in base64, is a number"},
			"data.z: must be a text in base64, is a number",
		},
		{
			apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), object, "no kind \"Other\" is registered")}), nil,
			"the API server cannot decode the object with the patch: check the fields, their types, apiVersion and kind",
		},
		{
			invalid(field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set")), nil,
			"Secret \"leak\" is invalid: data: is forbidden: field is immutable when `immutable` is set",
		},
		{
			invalid(field.Invalid(field.NewPath("metadata", "labels"), value+"!", "a valid label must be "+value)), nil,
			`Secret "leak" is invalid: metadata.labels: has an invalid value`,
		},
		{
			invalid(field.Required(field.NewPath("data").Key("tls.crt"), ""), field.TooLong(field.NewPath("data"), value, 1048576)), nil,
			`Secret "leak" is invalid: data[tls.crt]: is required, data: Too long: may not be more than 1048576 bytes`,
		},
		{
			invalid(field.TypeInvalid(field.NewPath("spec", "size"), "string", `spec.size in body must be of type integer: "string"`)), nil,
			`Secret "leak" is invalid: spec.size: must be of type integer, is of type string`,
		},
		{
			invalid(field.TypeInvalid(field.NewPath("spec", "size"), value, `spec.size in body must be of type integer: "string"`)), nil,
			`Secret "leak" is invalid: spec.size: has another type`,
		},
		{
			invalid(field.Duplicate(field.NewPath(`.spec.tokens[="`+value+`"]`), value)), nil,
			`Secret "leak" is invalid`,
		},
		{
			apierrors.NewApplyConflict([]metav1.StatusCause{
				{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.password", Message: `conflict with "other" using v1`},
			}, `Apply failed with 1 conflict: conflict with "other" using v1: .data.password`), nil,
			`Apply failed with 1 conflict: .data.password: conflict with "other" using v1`,
		},
		{
			apierrors.NewForbidden(secrets, "leak", errors.New(`User "jane" cannot patch resource "secrets" in API group "" in the namespace "default"`)), nil,
			`secrets "leak" is forbidden: User "jane" cannot patch resource "secrets" in API group "" in the namespace "default"`,
		},
		{
			apierrors.NewForbidden(secrets, "leak", errors.New(`ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `+value)), nil,
			`secrets "leak" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request`,
		},
		{
			apierrors.NewForbidden(secrets, "leak", errors.New("exceeded quota: q, requested: count/secrets=1, used: count/secrets=3, limited: count/secrets=3")), nil,
			`secrets "leak" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=3, limited: count/secrets=3`,
		},
		{
			&apierrors.StatusError{ErrStatus: metav1.Status{
				Code: http.StatusForbidden, Reason: value, Message: `admission webhook "w.example.com" denied the request: ` + value,
				Details: &metav1.StatusDetails{
					Name: value, Group: value, Kind: value, UID: value,
					Causes: []metav1.StatusCause{{Type: value, Field: value, Message: `conflict with "` + value + `" using v1`}},
				},
			}}, nil, `admission webhook "w.example.com" denied the request`,
		},
		{
			apierrors.NewConflict(secrets, "leak", errors.New("the object has been modified")), nil,
			`Operation cannot be fulfilled on secrets "leak": the object has been modified`,
		},
		{
			apierrors.NewBadRequest(`Secret in version "v1" cannot be handled as a Secret: strict decoding error: unknown field "unknown"`), nil,
			`Secret in version "v1" cannot be handled as a Secret: strict decoding error: unknown field "unknown"`,
		},
		{
			apierrors.NewBadRequest(`Secret in version "v1" cannot be handled as a Secret: ` + value), nil,
			"the API server answered 400 BadRequest: its text is not shown, since it may contain values of the object",
		},
		{
			status(500, "failed to create typed patch object (default/leak; /v1, Kind=Secret): .data.z: expected string, got &value.valueUnstructured{Value:"+value+"}"), nil,
			"failed to create typed patch object (default/leak; /v1, Kind=Secret): .data.z: expected string",
		},
		{apierrors.NewInternalError(errors.New("conversion webhook failed: " + value)), nil, "Internal error occurred"},
		{apierrors.NewRequestEntityTooLargeError("limit is 3145728"), nil, "Request entity too large: limit is 3145728"},
		{apierrors.NewGenericServerResponse(502, "patch", secrets, "leak", "<html>"+value, 0, true), nil, "an error on the server"},
		{fmt.Errorf("writing it: %w", apierrors.NewNotFound(secrets, "leak")), nil, `writing it: secrets "leak" not found`},
		{errors.New("Object 'Kind' is missing in '" + object + "'"), nil, "reading the answer of the API server failed (*errors.errorString)"},
		{&url.Error{Op: "Get", URL: "https://a", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, nil, `Get "https://a": dial: connection refused`},
		{io.EOF, nil, "EOF"},
		{context.Canceled, nil, "context canceled"},
	} {
		got := Answer(tc.err, tc.faults...)
		if got.Error() != tc.want {
			t.Errorf("%.200s\n\tis shown as %s\n\twant        %s", tc.err, got, tc.want)
		}
		if strings.Contains(printed(t, got), value) {
			t.Errorf("%s is printed with the value", tc.want)
		}
	}
	if Answer(nil) != nil {
		t.Error("no error becomes one")
	}
}

// printed returns the texts that programs can print for an error.
func printed(t *testing.T, err error) string {
	t.Helper()
	var out bytes.Buffer
	holder := struct{ Err error }{err}
	fmt.Fprintf(&out, "%v %+v %#v %s %q %x %v %+v %#v\n", err, err, err, err, err, err, holder, holder, holder)
	for _, value := range []any{err, holder} {
		encoded, failed := json.Marshal(value)
		if failed != nil {
			t.Fatal(failed)
		}
		out.Write(encoded)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Error("it failed", "error", err, "holder", holder)
	slog.New(slog.NewJSONHandler(&out, nil)).Error("it failed", "error", err, "holder", holder)
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.AddSync(&out), zap.DebugLevel)
	zap.New(core).Sugar().Debugw("it failed", "error", err, "holder", holder, zap.Error(err))
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		fmt.Fprintln(&out, cause)
	}
	if answer, ok := errors.AsType[*apierrors.StatusError](err); ok {
		format, args := answer.DebugError()
		fmt.Fprintf(&out, format, args...)
		fmt.Fprintf(&out, "%v %+v %#v", answer, answer.ErrStatus, answer.ErrStatus)
	}
	return out.String()
}

func TestAnswer_Redacted_IsTheSameForCallersThatDecide(t *testing.T) {
	raw := invalid(field.Forbidden(field.NewPath("data"), value))
	raw.ErrStatus.Details.RetryAfterSeconds = 7
	err := fmt.Errorf("patching the object: %w", Answer(raw))
	seconds, ok := apierrors.SuggestsClientDelay(err)
	if !apierrors.IsInvalid(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeForbidden) || !ok || seconds != 7 {
		t.Errorf("the error is another one: %v", err)
	}
	if !errors.Is(err, raw) {
		t.Error("errors.Is does not find the answer")
	}
	for want, answer := range map[string]error{
		"IsForbidden": &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: value, Message: `admission webhook "a" denied the request: ` + value}},
	} {
		if !apierrors.IsForbidden(Answer(answer)) {
			t.Errorf("it is not %s", want)
		}
	}
}

func TestWarning_OfAPolicy_NamesThePolicy(t *testing.T) {
	for text, want := range map[string]string{
		"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': " + value: "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b'",
		value + " is deprecated": "the API server warns about the object: its text is not shown, since it may contain values of the object",
	} {
		if got := Warning(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// What follows the beginning of a message is never passed on, whatever it is.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`secrets "a" is forbidden: `, `admission webhook "a" denied the request: `, "", "Apply failed with 1 conflict: ", ` "" is invalid: patch: Invalid value: "`} {
		f.Add(seed, "metadata.labels")
	}
	f.Fuzz(func(t *testing.T, before, path string) {
		// Names, users and fields are shown. They are not values.
		if strings.Count(before, `"`)%2 == 1 || strings.HasSuffix(before, `'`) || strings.HasSuffix(before, "(") {
			return
		}
		for _, hidden := range []string{"<" + value + ">", "\n" + value} {
			err := invalid(field.Invalid(field.NewPath(path), hidden, hidden))
			err.ErrStatus.Message = before + hidden
			if shown := Answer(err).Error(); strings.Contains(shown, value) && !strings.Contains(path, value) {
				t.Errorf("%q is shown as %q", err.ErrStatus.Message, shown)
			}
		}
	})
}
