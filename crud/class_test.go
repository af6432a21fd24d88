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
	"os"
	"regexp"
	"slices"
	"strings"
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

// The table of the documentation says for each class whether repeating can help.
func TestRetriable_EachClass_IsAsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/crud.md")
	if err != nil {
		t.Fatal(err)
	}
	version := "1"
	patch := MergePatch(Ref{Kind: "ConfigMap", Name: "a"}, "{}")
	stale := patch
	stale.Preconditions.ResourceVersion = &version
	appending := JSONPatch(patch.Ref, `[{"op":"add","path":"/list/-","value":1}]`)
	identified := appending
	identified.ID = "id"
	_, classes, _ := strings.Cut(string(page), "## Classes of errors")
	documented := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\| .* \\| (yes|no|if .*) \\|.*\\|$").FindAllStringSubmatch(classes, -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			documented++
			class := Class(strings.Trim(name, "`"))
			retriable := func(op Operation) bool {
				return Retriable(fmt.Errorf("wrapped: %w", (&call{op: op}).failed(t.Context(), class.errorf("failed"))))
			}
			want := map[string][]bool{
				"yes": {true, true, true, true}, "no": {false, false, false, false}, "if the operation requires no `resourceVersion`": {true, false, true, true},
				"if the operation is repeatable, or has an id": {true, true, false, true},
			}[row[2]]
			if got := []bool{retriable(patch), retriable(stale), retriable(appending), retriable(identified)}; !slices.Equal(got, want) {
				t.Errorf("%s: a patch, one with a resourceVersion, one that appends, and one with an id are retriable: %v; the documentation says %q", class, got, row[2])
			}
		}
	}
	if documented != 23 {
		t.Errorf("the documentation has %d classes", documented)
	}
	passing, lasting := numbered(0, Terminating.errorf("failed")), numbered(1, Invalid.errorf("failed"))
	if Retriable(nil) || !Retriable(errors.Join(passing, passing)) || Retriable(errors.Join(passing, lasting)) {
		t.Error("of several errors, one that lasts does not decide")
	}
}
