/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/duckinformer"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// subject is an object of a kind, as a pass leaves it.
type subject struct {
	// metadata is that of the object, whether it fits or not.
	metadata metav1.Object
	// object is nil if it does not fit the shape of its kind, which malformed then says.
	object    binding.Object
	malformed error
	// included is whether it may be bound, excluded whether it or its namespace opts out.
	included, excluded bool
	// taken is what it does not get of the binding.
	taken []binding.Taken
	// problem is why it could not be changed.
	problem *problem.Problem
}

// adjuster gives objects of one kind what they are to have.
type adjuster struct {
	*Reconciler

	binding   *v1.AddressBinding
	kind      kind
	decider   *binding.Bindings
	choice    binding.Choice
	namespace map[string]string
}

// adjust returns nil if the object is gone. It writes only if asked to, and only to objects that concern the binding: those that it
// chooses, and those that hold what stands in its status. For every change there is a binding that it concerns.
func (a *adjuster) adjust(ctx context.Context, found kmeta.Accessor, write bool) *subject {
	s := &subject{metadata: found}
	if malformed, ok := found.(*duckinformer.Malformed); ok {
		s.malformed = malformed.Err
		return s
	}
	object, ok := found.(binding.Object)
	if !ok {
		s.malformed = fmt.Errorf("it is cached as an unexpected %T", found)
		return s
	}
	result := a.decide(s, object)
	if len(result.Changes) == 0 || !write || binding.Immutable(a.kind.GroupKind) || !a.concerns(object) {
		return s
	}

	key := a.kind.Resource.String() + "/" + object.GetNamespace() + "/" + object.GetName()
	a.patching.LockKey(key)
	defer func() { _ = a.patching.UnlockKey(key) }()
	// Another pass may have been first, and what was to be written then may be nobody's any more.
	all, err := a.bindings.AddressBindings(object.GetNamespace()).List(labels.Everything())
	if err != nil {
		s.problem = problem.Failed(a.failed(), fmt.Errorf("listing bindings: %w", err))
		return s
	}
	a.decider = binding.Of(a.kind.GroupKind, all)
	if result = a.decide(s, a.written.newest(a.kind.Resource, object)); len(result.Changes) == 0 {
		return s
	}
	patched, p := a.patch(ctx, s.object, result)
	if p != nil {
		s.problem = p
		return s
	}
	if patched == nil {
		return nil
	}
	if left := a.decide(s, patched); len(left.Changes) > 0 {
		s.problem = problem.Newf(a.failed(),
			"%s %s: the change was accepted, and something else was stored: a webhook undoes it, or the kind has no such field", a.kind.Kind, object.GetName())
		s.problem.Recheck = max(a.written.pauseAfter(a.kind.Resource, patched), problem.FirstRecheck)
	}
	return s
}

// failed is the reason with which a change of a subject fails.
func (a *adjuster) failed() string {
	if a.binding.DeletionTimestamp != nil {
		return v1.ReasonUnbindFailed
	}
	return v1.ReasonBindFailed
}

// decide also notes what it finds.
func (a *adjuster) decide(s *subject, object binding.Object) binding.Result {
	s.object, s.metadata = object, object
	s.included = binding.Included(a.namespace, object.GetLabels())
	s.excluded = binding.Excluded(a.namespace) || binding.Excluded(object.GetLabels())
	result := a.decider.Decide(object, s.included).Apply(object)
	s.taken = result.TakenFrom(a.binding.Name)
	return result
}

func (a *adjuster) concerns(object binding.Object) bool {
	if a.choice.Includes(a.kind.GroupKind, object) {
		return true
	}
	for _, b := range a.binding.Status.Bound {
		if binding.KindOf(b.APIVersion, b.Kind) == a.kind.GroupKind && binding.Holds(object, b.Name, b.Value) {
			return true
		}
	}
	return false
}

// patch returns the object as it then is, or nil if it is gone. It also tests that the object has not changed since it was
// looked at.
func (a *adjuster) patch(ctx context.Context, object binding.Object, result binding.Result) (binding.Object, *problem.Problem) {
	failed := a.failed()
	name := a.kind.Kind + " " + object.GetName()
	changes, err := json.Marshal(result.Changes)
	if err != nil {
		return nil, problem.Failed(failed, fmt.Errorf("making a patch of %s: %w", name, err))
	}
	if pause := a.written.pause(a.kind.Resource, object, string(changes)); pause > 0 {
		p := problem.Newf(failed, "%s: somebody undoes what was changed a moment ago; it is tried again ever more slowly", name)
		p.Recheck = pause
		return nil, p
	}
	patch, err := result.Patch().MarshalJSON()
	if err != nil {
		return nil, problem.Failed(failed, fmt.Errorf("making a patch of %s: %w", name, err))
	}
	answer, err := a.dynamic.Resource(a.kind.Resource).Namespace(object.GetNamespace()).Patch(ctx, object.GetName(),
		types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: binding.FieldManager})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case isChangedMeanwhile(err):
		return nil, a.changedMeanwhile(object, fmt.Errorf("patching %s: %w", name, err))
	case isNotAuthorized(err):
		return nil, a.forbidden(a.binding, "patching %s: %v", name, err)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		// It is refused until something changes that nobody tells of, such as another webhook.
		p := problem.Newf(failed, "patching %s: %v", name, err)
		p.Recheck = a.troubles.RecheckAfter(a.binding, failed)
		return nil, p
	case err != nil:
		return nil, problem.Failed(failed, fmt.Errorf("patching %s: %w", name, err))
	}
	patched := binding.ShapeOf(a.kind.GroupKind, a.kind.Labels).New()
	if err := duck.FromUnstructured(answer, patched); err != nil {
		return nil, problem.Failed(failed, fmt.Errorf("reading %s after it was patched: %w", name, err))
	}
	a.written.record(a.kind.Resource, patched, string(changes))
	return patched, nil
}

// isNotAuthorized is whether a permission to patch is missing, which is so for all objects alike. Admission refuses single ones, and many
// webhooks with the same code; what tells them apart are the words of k8s.io/apiserver, responsewriters.Forbidden.
func isNotAuthorized(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot patch resource ")
}

// changedMeanwhile is the problem of a patch that was refused since the object is another one than was looked at.
func (a *adjuster) changedMeanwhile(object binding.Object, err error) *problem.Problem {
	lasted := a.refused.Lasted(stateOf(a.kind.Resource, object))
	// The event of the change is on its way. In case it never comes, there is another pass all the same.
	p := &problem.Problem{
		Reason:  v1.ReasonBinding,
		Message: a.kind.Kind + " " + object.GetName() + " has changed meanwhile and is looked at again",
		Recheck: problem.RecheckAfter(lasted),
	}
	if lasted >= eventsTake {
		// The duck type shows a part of the object only, and in the rest there is something that does not go with the patch.
		p.Reason, p.Message = a.failed(), err.Error()
	}
	return p
}

// isChangedMeanwhile is whether a test of the patch has failed. The API server answers as to an object that is invalid, but
// names none of its fields.
func isChangedMeanwhile(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok || !apierrors.IsInvalid(err) {
		return false
	}
	details := status.Status().Details
	return details == nil || len(details.Causes) == 0
}
