/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// run reports which of the operations cannot succeed as the cluster is: all mistakes and unknown kinds, and the first dry run that fails. An error
// that an operation before may prevent is not reported.
func (p *preflight) run(ctx context.Context, operations []Operation) (failed error) {
	ctx, span := otel.Tracer(scope).Start(ctx, "Preflight")
	defer func() { endSpan(span, failed) }()
	var errs []error
	for i, op := range operations {
		dependent, err := p.check(ctx, op)
		if err == nil && !dependent && len(errs) == 0 {
			err = p.try(ctx, i, op)
		}
		if p.mask(&Result{}, err); err != nil {
			errs = append(errs, numbered(i, fmt.Errorf("%w: nothing was executed; preflight: off skips this check", err)))
		}
		if p.plan.Checked != nil {
			p.plan.Checked(i + 1)
		}
	}
	return errors.Join(errs...)
}

// foresight holds the findings of a plan's preflight about an operation. Its outcome is empty if the operation must find out itself.
type foresight struct {
	Result
	patch []byte // the merge patch that was made from Result.Object
}

// preflight is the client for dry runs, and what the operations so far change.
type preflight struct {
	*Client
	plan     *Plan
	foreseen []foresight
	touched  map[Ref]bool // with groups instead of API versions
	effects  effects
	// isAbsent reports that the last object of a creation did not exist, so that the next one probably does not, either.
	isAbsent bool
}

// check returns an error if an operation cannot be sent, and whether it depends on one of those before, so that it cannot be tried yet.
func (p *preflight) check(ctx context.Context, op Operation) (dependent bool, _ error) {
	call, before := &call{Client: p.Client, op: op}, p.effects
	p.effects = append(p.effects, effect{takesLong: op.Type.Deletes() || op.Wait > 0})
	err := guarded("the preflight", func() error {
		if err := call.prepare(); err != nil {
			return err
		}
		return call.retry(ctx, call.resolve)
	})
	p.effects[len(before)].Ref = call.op.Ref
	switch {
	case before.explaining(call.op, err) != nil:
		return true, nil
	case err != nil:
		return false, call.failed(ctx, err)
	}
	key := Ref{call.kind.Group, call.kind.Kind, call.op.Namespace, call.op.Name}
	dependent = p.touched[key] || p.touched[Ref{Kind: "Namespace", Name: call.op.Namespace}]
	p.touched[key] = true
	return dependent, nil
}

// try executes the dry run of an operation.
func (p *preflight) try(ctx context.Context, i int, op Operation) error {
	reads := op.Type == TypeCreateIfNotExists || op.Type == TypeCreateOrUpdate && op.Strategy != Apply
	call := &call{Client: p.Client, op: op}
	if reads && p.isAbsent {
		call.foreseen.Outcome = Created
	}
	deferred, err := p.execute(ctx, i, call)
	if err != nil || deferred {
		return err
	}
	if reads {
		p.isAbsent = call.result.Outcome == Created
	}
	p.foreseen[i] = call.foresee(p.effects[:i])
	return nil
}

// execute executes the dry run of an operation, unless one of those before explains why it fails.
func (p *preflight) execute(ctx context.Context, i int, call *call) (deferred bool, err error) {
	result, err := call.execute(ctx)
	if p.effects[:i].explaining(call.op, err) != nil {
		return true, nil
	}
	p.effects[i].outcome = result.Outcome
	return false, err
}

// foresee returns the findings on which the execution of the operation may rely.
func (c *call) foresee(before effects) foresight {
	seen := foresight{Result: c.result}
	seen.Object = identity(c.result.Object)
	switch isUpsert := c.op.Type == TypeCreateOrUpdate; {
	case c.hasPreconditions():
	case seen.Outcome == Created && (isUpsert || c.op.Type == TypeCreateIfNotExists):
		return seen
	case isUpsert && c.op.Strategy == Apply: // it may take over fields
	case isUpsert && c.sent != nil && seen.Outcome == Updated:
		seen.patch = c.sent
		return seen
	case seen.Outcome == Unchanged && !slices.ContainsFunc(before, func(e effect) bool { return e.takesLong }):
		return seen
	}
	return foresight{}
}

// effect describes the change that an operation of a plan makes. Its outcome is empty if the operation has not been tried.
type effect struct {
	Ref
	outcome   Outcome
	ended     time.Time
	takesLong bool // so that a state that was read before may be old
}

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
	kind := schema.FromAPIVersionAndKind(e.APIVersion, e.Kind)
	isNear, group := e.Namespace == op.Namespace, kind.Group
	isSameKind := kind.GroupKind() == schema.FromAPIVersionAndKind(op.APIVersion, op.Kind).GroupKind()
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

func (e effect) mentionedIn(message string) bool {
	isNamed := strings.Contains(message, `"`+e.Name+`"`) || strings.Contains(message+" ", "name "+e.Name+" ")
	return e.Name != "" && isNamed && strings.Contains(strings.ToLower(message), strings.ToLower(e.Kind))
}
