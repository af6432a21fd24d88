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
	"net/http"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// unexecuted are parts of the texts with which the API server rejects requests before it executes them (k8s.io/apiserver/pkg/server), by class. Its
// other answers are JSON.
var unexecuted = map[Class]string{Throttled: "please try again later", KindUnknown: "404 page not found"}

// ofRequest returns the error of a request with its class. A read and a dry run may be sent again. A write may have been executed unless the API server
// rejected it: a 5xx response can follow a write to etcd, a proxy can make any other, and the context may have ended after the request was sent.
func ofRequest(writes bool, err error) error {
	var status apierrors.APIStatus
	answered := errors.As(err, &status)
	text, isText := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	switch class := ClassOf(err); {
	case !writes && class == Uncertain:
		return ServerError.of(err)
	case !writes, unexecuted[class] != "" && strings.Contains(text.Message, unexecuted[class]):
	case isText, class == Throttled, class == ServerError && answered, class == Canceled, class == Malformed && !answered,
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

// Class is the kind of failure of an operation. ClassOf returns it.
type Class string

// The classes. Up to DiscoveryUnavailable, nothing was sent that changes something.
const (
	// Malformed: the operation contradicts itself, or lacks something.
	Malformed Class = "Malformed"
	// KindUnknown: the API server does not serve the kind, in this version if one is given.
	KindUnknown Class = "KindUnknown"
	// KindAmbiguous: several groups serve the kind, and the operation does not name one.
	KindAmbiguous Class = "KindAmbiguous"
	// ScopeMismatch: a namespace is missing, or given for a kind without namespaces.
	ScopeMismatch Class = "ScopeMismatch"
	// SubresourceNotServed: the kind has no status subresource.
	SubresourceNotServed Class = "SubresourceNotServed"
	// DiscoveryUnavailable: the kind was not found, and the API server could not list all kinds.
	DiscoveryUnavailable Class = "DiscoveryUnavailable"

	// NotFound: there is no such object, although its kind is served.
	NotFound Class = "NotFound"
	// AlreadyExists: Create found an object of that name.
	AlreadyExists Class = "AlreadyExists"
	// Terminating: the object or its namespace is being deleted, so that a later attempt may succeed.
	Terminating Class = "Terminating"
	// Conflict: the object has changed since it was read, again after each attempt.
	Conflict Class = "Conflict"
	// Precondition: the object has another UID or resourceVersion than the operation requires.
	Precondition Class = "Precondition"
	// OwnershipConflict: another field manager owns a field, or another owner controls the object.
	OwnershipConflict Class = "OwnershipConflict"
	// Immutable: a field cannot be changed after the object was created.
	Immutable Class = "Immutable"
	// Invalid: the API server rejects the object or the patch.
	Invalid Class = "Invalid"
	// PatchTestFailed: an operation of a JSON patch does not fit the object.
	PatchTestFailed Class = "PatchTestFailed"
	// FilterFailed: a jq program or a function failed, or did not return the object.
	FilterFailed Class = "FilterFailed"
	// Forbidden: the client lacks a permission, or an admission controller denies the request.
	Forbidden Class = "Forbidden"
	// Unauthorized: the API server does not know the client.
	Unauthorized Class = "Unauthorized"
	// Throttled: the API server is overloaded, and has executed nothing.
	Throttled Class = "Throttled"
	// ServerError: the API server failed, or could not be reached.
	ServerError Class = "ServerError"
	// Uncertain: no answer arrived that shows whether the API server has executed the request.
	Uncertain Class = "Uncertain"
	// Canceled: the caller's context ended.
	Canceled Class = "Canceled"
)

// Error is the reason for which an operation failed.
type Error struct {
	// Operation describes the operation and its object, without the object's content.
	Operation string
	// Ref names the object, with the API version and kind of the API server once that is known.
	Ref Ref
	// UID is that of the object, if the operation required or read it.
	UID types.UID
	// Finalizers are those of an object that the operation read and that is being deleted.
	Finalizers []string
	Class      Class
	// Attempts is the number of attempts of the operation.
	Attempts int
	Err      error

	// isFinal reports whether the operation cannot be repeated, although others can with an error of the class.
	isFinal bool
}

// Error implements error, in one line. It names the operation and the object. It never contains values of Secrets; the API server's
// messages may contain those of other kinds.
func (e *Error) Error() string {
	reason, _, _ := strings.Cut(e.Err.Error(), "\n")
	return e.Operation + ": " + string(e.Class) + ": " + reason
}

// Unwrap returns the cause: the answer of the API server, if there was one.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of an error of this package, or "" for nil.
func ClassOf(err error) Class {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed.Class
	}
	if failed, ok := errors.AsType[*classified](err); ok {
		return failed.class
	}
	return classify(err)
}

// transient are the classes of errors after which the same operation may succeed, without a change of it or of the cluster's configuration.
var transient = []Class{DiscoveryUnavailable, Terminating, Conflict, Throttled, ServerError, Uncertain, Canceled}

// Retriable reports whether the same operations may succeed if they are executed again. For an error of RunPlan, it is false if one
// operation fails again. An operation that requires the resourceVersion of a state fails again after a Conflict, and one that has another effect if
// it is executed twice must not be repeated while it is Uncertain, unless it has an Operation.ID.
func Retriable(err error) bool {
	for _, one := range Errors(err) {
		failed, ok := errors.AsType[*Error](one)
		if ok && failed.isFinal || !slices.Contains(transient, ClassOf(one)) {
			return false
		}
	}
	return err != nil
}

// repeatsAfter reports whether another attempt of the operation may succeed. A dry run and a read are never Uncertain: see ofRequest.
func (o Operation) repeatsAfter(class Class) bool {
	isFree := o.RequiredVersion() == "" // otherwise another state does not fit anymore
	switch class {
	case Throttled, ServerError, DiscoveryUnavailable:
		return true
	case Conflict:
		return isFree && o.Type != TypeCreate
	case AlreadyExists: // created concurrently, or a name that the API server generated
		return slices.Contains(creations, o.Type) && isFree && (o.Type != TypeCreate || o.ID == "" && o.Object.GetName() == "")
	case Uncertain: // the next attempt finds out, or has the same effect
		isFilter := o.change != nil && o.Object == nil
		return o.Type.Deletes() || isFilter || o.ID != "" || isFree && o.Repeatable()
	default:
		return false
	}
}

// isFinal reports whether the operation fails again, or has another effect, although its class is transient.
func (o Operation) isFinal(class Class) bool {
	return class == Conflict && o.RequiredVersion() != "" || class == Uncertain && o.ID == "" && o.mayRepeatEffect()
}

type classified struct {
	error
	class Class
}

func (c *classified) Unwrap() error { return c.error }

func (c Class) of(err error) error { return &classified{err, c} }

func (c Class) errorf(format string, args ...any) error { return c.of(fmt.Errorf(format, args...)) }
