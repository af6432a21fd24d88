/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Preflight reports which of the operations cannot succeed as the cluster is, and changes nothing. Mistakes, kinds and permissions are reported
// for all operations, then the first dry run that fails.
func (c *Client) Preflight(ctx context.Context, operations []Operation) error {
	ctx, span := otel.Tracer(scope).Start(ctx, "Preflight")
	defer span.End()
	err := c.preflight(ctx, operations)
	failSpan(span, err)
	return err
}

func (c *Client) preflight(ctx context.Context, operations []Operation) error {
	p := newPreflight(c)
	var (
		errs     []error
		runnable []int
	)
	for i, op := range operations {
		var dependent bool
		err := guarded("the preflight", func() (err error) {
			dependent, err = p.check(ctx, operations[:i], op)
			return err
		})
		if err != nil {
			errs = append(errs, numbered(i, err))
		} else if !dependent {
			runnable = append(runnable, i)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, i := range runnable {
		if _, err := p.Run(ctx, operations[i]); err != nil {
			return numbered(i, err)
		}
	}
	return nil
}

// preflight is the client for dry runs, and what the operations so far change.
type preflight struct {
	Client
	touched sets.Set[Ref]
	allowed map[authorizationv1.ResourceAttributes]error
}

func newPreflight(c *Client) *preflight {
	p := &preflight{Client: *c, touched: sets.New[Ref](), allowed: map[authorizationv1.ResourceAttributes]error{}}
	p.options.DryRun = true
	return p
}

// check returns an error if an operation cannot be sent, and whether it depends on one of those before, so that it cannot be tried yet.
func (p *preflight) check(ctx context.Context, before []Operation, op Operation) (dependent bool, _ error) {
	call := &call{Client: &p.Client, op: op}
	if err := call.prepare(); err != nil {
		return false, call.failed(ctx, err)
	}
	err := call.resolve()
	switch {
	case ClassOf(err) == KindUnknown && (op.IgnoreUnknownKind || definesKinds(before)):
		return true, nil
	case err != nil:
		return false, call.failed(ctx, err)
	}
	dependent = p.touched.Has(call.op.Ref) || p.touched.Has(Ref{"v1", "Namespace", "", call.op.Namespace})
	p.touched.Insert(call.op.Ref)
	for _, verb := range op.verbs() {
		if err := p.authorize(ctx, call, verb); err != nil {
			return false, call.failed(ctx, err)
		}
	}
	return dependent, nil
}

// authorize checks each permission once with the API server: for all objects of a kind, and only if the client lacks that, for the one object.
func (p *preflight) authorize(ctx context.Context, call *call, verb string) error {
	attributes := authorizationv1.ResourceAttributes{
		Namespace: call.op.Namespace, Verb: verb, Group: call.kind.Group, Version: call.kind.Version, Resource: call.kind.resource,
	}
	if call.op.StatusPatch && verb == "patch" {
		attributes.Subresource = "status"
	}
	err := p.ask(ctx, attributes)
	if err != nil && call.op.Name != "" {
		attributes.Name = call.op.Name
		err = p.ask(ctx, attributes)
	}
	return err
}

// ask checks a permission once. If the check itself fails, the operation continues: only a denial stops it.
func (p *preflight) ask(ctx context.Context, attributes authorizationv1.ResourceAttributes) error {
	if err, ok := p.allowed[attributes]; ok {
		return err
	}
	p.allowed[attributes] = nil
	review, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"},
		Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes},
	})
	if err != nil {
		return fmt.Errorf("encoding an access review: %w", err)
	}
	answer, err := p.dynamic.Resource(authorizationv1.SchemeGroupVersion.WithResource("selfsubjectaccessreviews")).
		Create(ctx, &unstructured.Unstructured{Object: review}, metav1.CreateOptions{})
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if allowed, found, err := unstructured.NestedBool(answer.Object, "status", "allowed"); err == nil && found && !allowed {
		p.allowed[attributes] = Forbidden.errorf("the client is not allowed to %s %s in group %q", attributes.Verb, attributes.Resource, attributes.Group)
	}
	return p.allowed[attributes]
}
