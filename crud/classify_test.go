/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// withCause adds a cause to the answer of the API server.
func withCause(err *apierrors.StatusError, cause metav1.StatusCause) error {
	if err.ErrStatus.Details == nil {
		err.ErrStatus.Details = &metav1.StatusDetails{}
	}
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, cause)
	return err
}

func withMessage(err *apierrors.StatusError, message string) error {
	err.ErrStatus.Message = message
	return err
}

func TestClassOf_AnswersOfTheAPIServer(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	invalid := func(faults ...*field.Error) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "a", faults)
	}
	for want, errs := range map[Class][]error{
		"":            {nil},
		NotFound:      {apierrors.NewNotFound(pods, "a")},
		AlreadyExists: {apierrors.NewAlreadyExists(pods, "a")},
		Terminating: {
			withMessage(apierrors.NewAlreadyExists(pods, "a"), "object is being deleted: pods \"a\" already exists"),
			withCause(apierrors.NewForbidden(pods, "a", errors.New("namespace")), metav1.StatusCause{Type: corev1.NamespaceTerminatingCause}),
		},
		Conflict: {apierrors.NewConflict(pods, "a", errors.New("the object has been modified"))},
		Precondition: {
			apierrors.NewConflict(pods, "a", errors.New("Precondition failed: UID in precondition: a, UID in object meta: b")),
			apierrors.NewConflict(pods, "a", errors.New("the UID in the precondition (a) does not match the UID in record (b)")),
			invalid(field.Invalid(field.NewPath("metadata", "uid"), "a", "field is immutable")),
		},
		OwnershipConflict: {apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec"}}, "conflict")},
		Immutable: {
			invalid(field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than image")),
			invalid(field.Invalid(field.NewPath("spec", "selector"), "x", "field is immutable")),
		},
		Invalid: {
			invalid(field.Invalid(field.NewPath("spec", "selector"), "x", "field is immutable"), field.Required(field.NewPath("spec"), "")),
			invalid(field.Invalid(field.NewPath("metadata", "labels"), "field is immutable", "must be a label")),
			invalid(field.Required(field.NewPath("spec"), "")), apierrors.NewBadRequest("no"), apierrors.NewRequestEntityTooLargeError("3 MiB"),
			apierrors.NewInternalError(errors.New("etcdserver: request is too large")),
		},
		Forbidden:    {apierrors.NewForbidden(pods, "a", errors.New("no rule"))},
		Unauthorized: {apierrors.NewUnauthorized("who?")},
		Throttled:    {apierrors.NewTooManyRequests("wait", 1)},
		ServerError: {
			apierrors.NewInternalError(errors.New("etcd")), apierrors.NewServiceUnavailable("starting"), apierrors.NewServerTimeout(pods, "post", 1),
			&url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}},
		},
		Uncertain: {
			apierrors.NewTimeoutError("deadline", 1), &url.Error{Op: "Post", Err: io.EOF}, context.DeadlineExceeded,
			&url.Error{Op: "Patch", Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}},
		},
		Canceled:    {context.Canceled},
		KindUnknown: {apierrors.NewGenericServerResponse(404, "get", pods, "a", "404 page not found", 0, true)},
		Malformed:   {errors.New("of the program")},
	} {
		for _, err := range errs {
			if got := ClassOf(err); got != want {
				t.Errorf("%v: the class is %s, want %s", err, got, want)
			}
			if err != nil {
				if got := ClassOf(fmt.Errorf("patching the object: %w", err)); got != want {
					t.Errorf("%v, wrapped: the class is %s, want %s", err, got, want)
				}
			}
		}
	}
}

// Only the API server knows that it did not execute a write. It answers with a Status, except for two reasons.
func TestOfRequest_AnswerOfAProxy_IsUncertainAfterAWrite(t *testing.T) {
	answered := func(code int, body string) error {
		return apierrors.NewGenericServerResponse(code, "patch", schema.GroupResource{Resource: "pods"}, "a", body, 0, true)
	}
	for code, class := range map[int]Class{400: Invalid, 401: Unauthorized, 403: Forbidden, 404: KindUnknown, 409: Conflict, 410: Invalid, 422: Invalid, 429: Throttled} {
		err := answered(code, "<html>")
		if read, written := ClassOf(ofRequest(false, err)), ClassOf(ofRequest(true, err)); read != class || written != Uncertain {
			t.Errorf("%d: the class is %s after a read, and %s after a write", code, read, written)
		}
	}
	for want, err := range map[Class]error{
		KindUnknown: answered(404, "404 page not found"), Throttled: answered(429, "Too many requests, please try again later."),
		Forbidden: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", errors.New("no rule")),
	} {
		if class := ClassOf(ofRequest(true, err)); class != want {
			t.Errorf("%v: the class is %s, want %s", err, class, want)
		}
	}
}

var allClasses = []Class{
	Malformed, KindUnknown, KindAmbiguous, ScopeMismatch, SubresourceNotServed, DiscoveryUnavailable, NotFound, AlreadyExists, Terminating, Conflict, Precondition,
	OwnershipConflict, Immutable, Invalid, PatchTestFailed, FilterFailed, Forbidden, Unauthorized, Throttled, ServerError, Uncertain, Canceled,
}

// Otherwise, a client would repeat an operation of which it says that it must not be repeated.
func TestRepeatsAfter_EachOperationAndClass_IsNotFinal(t *testing.T) {
	pod := Ref{APIVersion: "v1", Kind: "Pod", Namespace: "d", Name: "a"}
	operations := append(everyOperation(), MergePatch(pod, `{"metadata":{"resourceVersion":"1"}}`),
		JSONPatch(pod, `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"},{"op":"add","path":"/metadata/labels/a","value":"b"}]`))
	for _, op := range operations {
		withVersion := op
		withVersion.Preconditions.ResourceVersion = new("1")
		operations = append(operations, withVersion)
	}
	repeated := map[Class]int{}
	for _, op := range operations {
		if op.Type == TypeJQPatch {
			op.change = jqChange(op.JQ)
		}
		for _, class := range allClasses {
			if !op.repeatsAfter(class) {
				continue
			}
			repeated[class]++
			// A filter remembers the patch that it has sent, but only for the attempts of one execution.
			remembers := class == Uncertain && op.change != nil && op.Object == nil
			if op.isFinal(class) && !remembers {
				t.Errorf("%s (%+v) is repeated after %s, and is final", op, op, class)
			}
		}
	}
	for _, class := range []Class{DiscoveryUnavailable, AlreadyExists, Conflict, Throttled, ServerError, Uncertain} {
		if repeated[class] == 0 {
			t.Errorf("no operation is repeated after %s", class)
		}
	}
}
