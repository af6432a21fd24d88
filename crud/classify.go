/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// classify finds the class of an answer to a request. That the reason is Conflict never decides a retry: the API server uses it for
// resourceVersions, preconditions, fields of other managers and quotas alike.
func classify(err error) Class {
	var status apierrors.APIStatus // not an error itself, so that errors.AsType does not find it
	answered := errors.As(err, &status)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return Canceled
	case !answered:
		return classifyConnection(err)
	case apierrors.IsConflict(err):
		return classifyConflict(err, status.Status())
	case apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return KindUnknown // the answer is about the path, not about the object
	case apierrors.IsAlreadyExists(err) && strings.Contains(err.Error(), "object is being deleted"),
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return Terminating
	case apierrors.IsInvalid(err):
		return classifyInvalid(status.Status())
	case apierrors.IsTimeout(err):
		return Uncertain
	case slices.ContainsFunc(permanent, func(text string) bool { return strings.Contains(status.Status().Message, text) }):
		return Invalid
	case status.Status().Code >= 500:
		return ServerError
	}
	for class, is := range map[Class]func(error) bool{
		NotFound: apierrors.IsNotFound, AlreadyExists: apierrors.IsAlreadyExists, Forbidden: apierrors.IsForbidden,
		Unauthorized: apierrors.IsUnauthorized, Throttled: apierrors.IsTooManyRequests,
	} {
		if is(err) {
			return class
		}
	}
	return Invalid
}

// classifyConnection distinguishes a request that was not sent, since no connection could be opened, from one whose answer is missing.
// Other errors are of the program itself.
func classifyConnection(err error) Class {
	_, sent := errors.AsType[*url.Error](err)
	network, ok := errors.AsType[net.Error](err)
	switch operation, _ := errors.AsType[*net.OpError](err); {
	case operation != nil && operation.Op == "dial":
		return ServerError
	case sent, ok && network.Timeout(), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded):
		return Uncertain
	}
	return Malformed
}

// permanent are parts of messages with which the API server rejects an object, although their code is 500: of server-side apply for a field that the
// kind does not have or that has another type, and of etcd for an object that is too large.
var permanent = []string{
	"failed to create typed patch object", "unable to convert unstructured object", "etcdserver: request is too large",
	"trying to send message larger than max",
}

// throttling is a part of the messages with which the API server rejects requests before it executes them (k8s.io/apiserver/pkg/server/filters).
const throttling = "please try again later"

// ofRequest returns the error of a request with its class. A read and a dry run may be sent again. A write may have been executed unless the API server
// rejected it: a 5xx response can follow a write to etcd, a proxy can make other responses, and the context may have ended after the request was sent.
func ofRequest(writes bool, err error) error {
	var status apierrors.APIStatus
	answered := errors.As(err, &status)
	text, _ := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	switch class := ClassOf(err); {
	case !writes && class == Uncertain:
		return ServerError.of(err)
	case !writes, class == Throttled && strings.Contains(text.Message, throttling):
	case class == Throttled, class == ServerError && answered, class == Canceled, class == Malformed && !answered,
		answered && status.Status().Code == http.StatusRequestTimeout:
		return Uncertain.of(err)
	}
	return err
}

func classifyConflict(err error, status metav1.Status) Class {
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		return OwnershipConflict
	// Returned for a deletion (k8s.io/apiserver/pkg/registry/generic/registry/store.go and storage/interfaces.go), or of a PUT with another UID.
	case strings.Contains(status.Message, "Precondition failed"), strings.Contains(status.Message, "in the precondition ("):
		return Precondition
	}
	return Conflict
}

// These are the ends of messages, and parts of messages without a value, by which the validation of Kubernetes reports a field that cannot be
// changed. There is no type of cause for it.
var (
	immutable = []string{"field is immutable", "field is immutable when `immutable` is set", "may not change once set", "is immutable"}
	forbidden = []string{"immutable", "may not change fields other than", "are forbidden", "cannot be changed", "may not be updated"}
)

func classifyInvalid(status metav1.Status) Class {
	if status.Details == nil || len(status.Details.Causes) == 0 {
		return Invalid
	}
	for _, cause := range status.Details.Causes {
		if cause.Field == "metadata.uid" {
			return Precondition
		}
	}
	// With another cause, the object could not be created again either.
	for _, cause := range status.Details.Causes {
		if !isImmutable(cause) {
			return Invalid
		}
	}
	return Immutable
}

func isImmutable(cause metav1.StatusCause) bool {
	// Other messages contain the value, in which anything can be.
	if cause.Type == metav1.CauseTypeForbidden {
		return slices.ContainsFunc(forbidden, func(text string) bool { return strings.Contains(cause.Message, text) })
	}
	return slices.ContainsFunc(immutable, func(text string) bool { return strings.HasSuffix(cause.Message, text) })
}
