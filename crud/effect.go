/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// effect describes the change that an operation of a plan makes. Its outcome is empty if the operation has not been tried.
type effect struct {
	Ref
	outcome   Outcome
	ended     time.Time
	takesLong bool
}

// effects are those of the operations before another one, in order.
type effects []effect

var (
	// without are outcomes of operations that changed nothing.
	without = []Outcome{Unchanged, AlreadyAbsent, Skipped, Replayed, NotRun, Failed}
	// inherent are the classes of errors about the operation or its own object.
	inherent = []Class{"", Malformed, Conflict, Precondition, OwnershipConflict, Immutable, PatchTestFailed, FilterFailed, Terminating, Canceled}
	// deciding are the groups whose objects decide how the API server answers requests for any other kind.
	deciding = []string{"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"}
)

// explaining returns the last effect before or after which an operation fails for different reasons: it may succeed with the effect although it
// fails without it. It returns nil if none of the effects has to do with the error.
func (e effects) explaining(op Operation, err error) *effect {
	class := ClassOf(err)
	if slices.Contains(inherent, class) {
		return nil
	}
	for i := len(e) - 1; i >= 0; i-- {
		// The kind of a CustomResourceDefinition that was created a moment ago might not be served yet.
		if (class == KindUnknown || !slices.Contains(without, e[i].outcome)) && e[i].explains(op.Ref, class, err.Error()) {
			return &e[i]
		}
	}
	return nil
}

func (e effect) explains(op Ref, class Class, message string) bool {
	isNear, group := e.Namespace == op.Namespace, groupOf(e.APIVersion)
	isSameKind := e.Kind == op.Kind && group == groupOf(op.APIVersion)
	switch {
	case isSameKind && isNear && e.Name == op.Name:
		return false // the effect is certain, and the message names the object of the operation
	case e.mentionedIn(message):
		return true
	case slices.Contains(deciding, group):
		return class != NotFound
	case group == "rbac.authorization.k8s.io":
		return class == Forbidden || class == NotFound // a Role, of a RoleBinding
	case group == "" && (e.Kind == "ResourceQuota" || e.Kind == "LimitRange"):
		return isNear && (class == Forbidden || class == Invalid)
	case e.outcome == Created:
		return false
	}
	// An object that is changed or deleted may have had what the operation needs: a port, a host that admission keeps unique, a part of a quota. With
	// it, the objects that it owns are deleted.
	switch {
	case class == AlreadyExists:
		return e.outcome != Updated && e.outcome != StatusUpdated
	case isSameKind && (strings.Contains(message, "already") || strings.Contains(message, "denied")):
		return class == Invalid || class == Forbidden
	default:
		return isNear && class == Forbidden && strings.Contains(message, "exceeded quota")
	}
}

// mentionedIn reports whether a message names the object: serviceaccount "a", or PriorityClass with name a.
func (e effect) mentionedIn(message string) bool {
	if e.Name == "" || !strings.Contains(strings.ToLower(message), strings.ToLower(e.Kind)) {
		return false
	}
	return strings.Contains(message, `"`+e.Name+`"`) || strings.Contains(message+" ", "name "+e.Name+" ")
}

// mayTakeLong reports whether one of the operations deletes or waits, so that a state that was read before it may be old.
func (e effects) mayTakeLong() bool {
	return slices.ContainsFunc(e, func(one effect) bool { return one.takesLong })
}

func groupOf(apiVersion string) string {
	version, _ := schema.ParseGroupVersion(apiVersion) // resolved
	return version.Group
}
