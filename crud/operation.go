/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Type is the name of an operation, also in operation files.
type Type string

// The types, each with a function of the same name that returns such an operation.
const (
	TypeCreateOrUpdate            Type = "CreateOrUpdate"
	TypeCreate                    Type = "Create"
	TypeCreateIfNotExists         Type = "CreateIfNotExists"
	TypeEnsureDeleted             Type = "EnsureDeleted"
	TypeEnsureDeletedInBackground Type = "EnsureDeletedInBackground"
	TypeEnsureDeletedOrphaning    Type = "EnsureDeletedOrphaning"
	TypeFilterPatch               Type = "FilterPatch"
	TypeFilterPatchOptimistic     Type = "FilterPatchOptimistic"
	TypeJQPatch                   Type = "JQPatch"
	TypeJSONPatch                 Type = "JSONPatch"
	TypeMergePatch                Type = "MergePatch"
)

// Strategy is the way in which CreateOrUpdate changes an object that exists.
type Strategy string

const (
	// Merge is the default: it writes the fields that differ as a JSON merge patch. Lists are replaced as a whole.
	Merge Strategy = "merge"
	// Apply is server-side apply: the API server merges lists by their keys, and rejects fields of other managers.
	Apply Strategy = "apply"
)

// OnImmutable is the reaction of CreateOrUpdate to a field that cannot be changed.
type OnImmutable string

const (
	// FailImmutable is the default: it fails with the class Immutable.
	FailImmutable OnImmutable = "fail"
	// Recreate deletes the object and creates it again. PersistentVolumeClaims, Namespaces and CustomResourceDefinitions hold data, and are
	// never recreated.
	Recreate OnImmutable = "recreate"
)

// Object is a pointer to an API type: *appsv1.Deployment, or *unstructured.Unstructured.
type Object interface {
	metav1.Object
	runtime.Object
}

// Ref names an object.
type Ref struct {
	// APIVersion may be empty if a single group serves the kind; its preferred version is used then.
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is the kind, or the plural, singular or short name of its resource, in any case.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns the reference as kind namespace/name.
func (r Ref) String() string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	return r.Kind + " " + name
}

// Operation is one change of one object. The functions of this package return operations; options are set as fields before it runs.
type Operation struct {
	Ref

	Type Type

	// StatusPatch sends a patch to the status subresource. Only the status may change then.
	StatusPatch bool
	// Preconditions reject another object of the same name, or another state of the object. CreateOrUpdate takes them from its object, too.
	Preconditions metav1.Preconditions
	// IgnoreMissing makes a patch of an object that does not exist succeed with the outcome Skipped.
	IgnoreMissing bool
	// IgnoreMissingPaths leaves out removals of a JSON patch whose path does not exist.
	IgnoreMissingPaths bool
	Strategy           Strategy
	OnImmutable        OnImmutable
	// OwnedBy is the UID of the controller that an object must have in its owner references. Another object is neither changed nor deleted: it is an
	// OwnershipConflict. CreateOrUpdate creates only an object that has it.
	OwnedBy types.UID
	// GracePeriodSeconds replaces the grace period that the object has for its deletion. Zero deletes it at once.
	GracePeriodSeconds *int64
	// Wait is the maximum time for which a deletion is awaited. Zero does not wait: the outcome is Deleting, and the same operation later resumes.
	// CreateOrUpdate waits for an object that is being deleted, and creates it again; without Wait, it fails with the class Terminating.
	Wait time.Duration

	// ID makes an operation that is executed again with the same ID succeed with the outcome Replayed and change nothing. The API server stores
	// it with the change: Create as the label crud.mallard.dev/operation, JSONPatch, JQPatch and FilterPatch in the annotation
	// crud.mallard.dev/operations, which keeps the last 64. It must be valid as the value of a label. Plan.Task sets it.
	ID string
	// task is the beginning of the ids of the plan, if it has set ID.
	task string

	// Object is the desired state of CreateOrUpdate, Create and CreateIfNotExists, and the snapshot of FilterPatchOptimistic.
	Object Object
	// Patch is the JSON of MergePatch and JSONPatch.
	Patch json.RawMessage
	// JQ is the program of JQPatch.
	JQ string

	sample runtime.Object // of the type that the function of FilterPatch takes
	change change         // of the filters in Go
	err    error          // of the function that made the operation
}

// CreateOrUpdate creates an object or, if it exists, writes the fields that differ. Fields that the object does not have stay as they are; an
// unstructured object removes one with the value nil. Finalizers and owner references are added. Status is never written.
func CreateOrUpdate(object Object) Operation {
	return Operation{Type: TypeCreateOrUpdate, Object: object}
}

// Create creates an object, and fails with the class AlreadyExists if it exists.
func Create(object Object) Operation { return Operation{Type: TypeCreate, Object: object} }

// CreateIfNotExists creates an object, and does not change one that exists, even if its content is another one.
func CreateIfNotExists(object Object) Operation {
	return Operation{Type: TypeCreateIfNotExists, Object: object}
}

// EnsureDeleted deletes an object after the objects that it owns.
func EnsureDeleted(ref Ref) Operation { return Operation{Type: TypeEnsureDeleted, Ref: ref} }

// EnsureDeletedInBackground deletes an object before the objects that it owns.
func EnsureDeletedInBackground(ref Ref) Operation {
	return Operation{Type: TypeEnsureDeletedInBackground, Ref: ref}
}

// EnsureDeleteBackground is another name of EnsureDeletedInBackground, which operation files accept, too.
func EnsureDeleteBackground(ref Ref) Operation { return EnsureDeletedInBackground(ref) }

// EnsureDeletedOrphaning deletes an object, and leaves the objects that it owns without owner.
func EnsureDeletedOrphaning(ref Ref) Operation {
	return Operation{Type: TypeEnsureDeletedOrphaning, Ref: ref}
}

// EnsureDeleteOrphan is another name of EnsureDeletedOrphaning, which operation files accept, too.
func EnsureDeleteOrphan(ref Ref) Operation { return EnsureDeletedOrphaning(ref) }

// MergePatch sends a JSON merge patch (RFC 7386), without reading the object before. patch is its JSON as []byte or string, or a value that
// encoding/json encodes. A resourceVersion in it rejects another state of the object.
func MergePatch(ref Ref, patch any) Operation {
	return Operation{Type: TypeMergePatch, Ref: ref}.with(patch)
}

// JSONPatch sends a JSON patch (RFC 6902), without reading the object before. patch is as for MergePatch.
func JSONPatch(ref Ref, patch any) Operation {
	return Operation{Type: TypeJSONPatch, Ref: ref}.with(patch)
}

// JQPatch reads an object, writes the result of a jq program, and runs the program again on the new state after a conflict.
func JQPatch(ref Ref, program string) Operation {
	return Operation{Type: TypeJQPatch, Ref: ref, JQ: program}
}

// FilterPatch reads an object, writes what f changes, and calls f again with the new state after a conflict. T decides the kind; fields that T
// does not have stay as they are. The client's scheme must know T, unless it is *unstructured.Unstructured.
func FilterPatch[T Object](ref Ref, f func(T) error) Operation {
	op := Operation{Type: TypeFilterPatch, Ref: ref}
	if op.change, op.err = typedChange(f); op.err == nil {
		op.sample = newObject[T]()
	}
	return op
}

// FilterPatchOptimistic writes what f changes in snapshot, the state on which the caller based its decision. If the object has changed since
// then, nothing is written and the operation fails with the class Conflict, so that the caller decides again.
func FilterPatchOptimistic[T Object](snapshot T, f func(T) error) Operation {
	op := Operation{Type: TypeFilterPatchOptimistic, Object: snapshot}
	op.change, op.err = typedChange(f)
	return op
}

func (o Operation) with(patch any) Operation {
	switch patch := patch.(type) {
	case []byte:
		o.Patch = patch
	case string:
		o.Patch = json.RawMessage(patch)
	default:
		if o.Patch, o.err = json.Marshal(patch); o.err != nil {
			o.err = fmt.Errorf("encoding the patch: %w", o.err)
		}
	}
	return o
}

// Deletes reports whether operations of the type delete an object.
func (t Type) Deletes() bool { return slices.Contains(deletions, t) }

// Target returns the reference of the object that the operation changes. Without its kind, an object is of a Go type.
func (o Operation) Target() Ref {
	if isNil(o.Object) {
		return o.Ref
	}
	gvk := o.Object.GetObjectKind().GroupVersionKind()
	return Ref{gvk.GroupVersion().String(), gvk.Kind, o.Object.GetNamespace(), o.Object.GetName()}
}

// String describes the operation in errors and logs, without content of the object.
func (o Operation) String() string { return strings.TrimSpace(string(o.Type) + " " + o.Ref.String()) }

// Outcome classifies the result of an operation.
type Outcome string

// The outcomes.
const (
	// Created: the object did not exist.
	Created Outcome = "Created"
	// Updated: the API server stored another state.
	Updated Outcome = "Updated"
	// StatusUpdated: the API server stored another status.
	StatusUpdated Outcome = "StatusUpdated"
	// Unchanged: the object was as it should be, so nothing was written.
	Unchanged Outcome = "Unchanged"
	// Replaced: the object was deleted and created again, because a field could not be changed.
	Replaced Outcome = "Replaced"
	// Deleted: the object existed and does not anymore.
	Deleted Outcome = "Deleted"
	// Deleting: the API server has accepted the deletion, and Result.Finalizers delay it.
	Deleting Outcome = "Deleting"
	// AlreadyAbsent: there was nothing to delete.
	AlreadyAbsent Outcome = "AlreadyAbsent"
	// Replayed: the operation was executed before with the same Operation.ID, so nothing was written.
	Replayed Outcome = "Replayed"
	// Skipped: there was nothing to patch, and the operation ignores that.
	Skipped Outcome = "Skipped"
	// Failed: see the error.
	Failed Outcome = "Failed"
	// NotRun: an operation before it in the plan failed.
	NotRun Outcome = "NotRun"
)

// Succeeded reports whether the operation was executed, and did not fail.
func (o Outcome) Succeeded() bool { return o != "" && o != Failed && o != NotRun }

// Result holds the outcome and the costs of an operation.
type Result struct {
	Outcome Outcome
	// Object is the state after the operation, as the API server returned it last. It is nil after a deletion and if
	// nothing was read. Results of RunPlan have its identity only.
	Object *unstructured.Unstructured
	// Deleted is the UID of the object whose deletion the operation requested, unless the API server rejected that.
	Deleted types.UID
	// Attempts is the number of attempts of the operation: 1 without a conflict.
	Attempts int
	// Finalizers delay a deletion.
	Finalizers []string
	// Contested names the field manager and a field, if the write was delayed because another writer undoes it again and again.
	Contested string
	// Warnings are those of the API server, and what the operation ignored.
	Warnings []string
}
