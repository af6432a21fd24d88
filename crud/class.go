/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

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
	// VerbNotServed: the API server does not serve the operation's verb for the kind.
	VerbNotServed Class = "VerbNotServed"
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

// Retriable reports whether the same operations may succeed if they are executed again. For an error of RunPlan or Preflight, it is false if one
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

// isFinal reports whether the operation fails again, or has another effect, although its class is transient.
func (o Operation) isFinal(class Class) bool {
	return class == Conflict && o.RequiredVersion() != "" || class == Uncertain && o.ID == "" && o.mayRepeatEffect()
}

// classified is an error whose class is known where it is made.
type classified struct {
	error
	class Class
}

func (c *classified) Unwrap() error { return c.error }

// of returns an error of the class.
func (c Class) of(err error) error { return &classified{err, c} }

// errorf returns an error of the class, and wraps as fmt.Errorf does.
func (c Class) errorf(format string, args ...any) error { return c.of(fmt.Errorf(format, args...)) }

// passes reports whether the same request may succeed later without a change of the operation or of the object.
func (c Class) passes() bool { return c == Throttled || c == ServerError || c == DiscoveryUnavailable }
