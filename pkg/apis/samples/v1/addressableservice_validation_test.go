/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"strings"
	"testing"

	"knative.dev/pkg/apis"
)

const classField = "metadata.annotations[samples.knative.dev/addressableservice.class]"

func TestAddressableService_Validate_ReturnsErrorsWithFields(t *testing.T) {
	type infuse = func(context.Context) context.Context
	create := apis.WithinCreate
	updateOf := func(old *AddressableService) infuse {
		return func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, old) }
	}
	itself := withRef("samples.knative.dev/v1", "AddressableService", "", "a")

	for name, tc := range map[string]struct {
		reason string
		ctx    infuse
		in     *AddressableService
		// want are parts of the message; none means that the object is accepted.
		want []string
	}{
		"create with a class": {
			reason: "the nearest good value",
			ctx:    create, in: newObject(withClass("mallard")),
		},
		"create with a class of several labels": {
			reason: "classes are often qualified by a domain",
			ctx:    create, in: newObject(withClass("mallard.example.com")),
		},
		"create without a class": {
			reason: "the defaulting webhook may be off; the object then has no class",
			ctx:    create, in: newObject(),
		},
		"create with a class that is no name": {
			reason: "no operator could be configured to serve it",
			ctx:    create, in: newObject(withClass("Not a name")),
			want: []string{`invalid class "Not a name"`, classField},
		},
		"create with an empty class": {
			reason: "it is neither a class nor left out",
			ctx:    create, in: newObject(withClass("")),
			want: []string{`invalid class ""`, classField},
		},
		"update to another class": {
			reason: "two operators would write to one object while the change goes round",
			ctx:    updateOf(newObject(withClass("mallard"))), in: newObject(withClass("other")),
			want: []string{`from "mallard" to "other"`, classField},
		},
		"update that takes the class away": {
			reason: "its operator would never take its finalizer away",
			ctx:    updateOf(newObject(withClass("mallard"))), in: newObject(),
			want: []string{`from "mallard" to ""`, classField},
		},
		"update that keeps the class": {
			reason: "nothing changes",
			ctx:    updateOf(newObject(withClass("mallard"))), in: newObject(withClass("mallard"), withLabel("a", "b")),
		},
		"update that keeps an invalid class": {
			reason: "a value that bypassed admission must not block a later update of another field",
			ctx:    updateOf(newObject(withClass("Not a name"))), in: newObject(withClass("Not a name"), withLabel("a", "b")),
		},
		"update that gives a first class": {
			reason: "an object made while the webhook was off can be handed to an operator",
			ctx:    updateOf(newObject()), in: newObject(withClass("mallard")),
		},
		"update that gives an invalid first class": {
			reason: "the rule for a new class holds whenever it is new",
			ctx:    updateOf(newObject()), in: newObject(withClass("Not a name")),
			want: []string{`invalid class "Not a name"`, classField},
		},
		"create with a reference to itself": {
			reason: "it could never have an address",
			ctx:    create, in: newObject(itself),
			want: []string{"cannot refer to itself", "spec.ref.name"},
		},
		"create with a reference to itself by its namespace": {
			reason: "saying the namespace makes no other object of it",
			ctx:    create, in: newObject(withRef("samples.knative.dev/v1", "AddressableService", "ns", "a")),
			want: []string{"cannot refer to itself", "spec.ref.name"},
		},
		"create with a reference to itself at another version": {
			reason: "every version shows the same object",
			ctx:    create, in: newObject(withRef("samples.knative.dev/v1alpha1", "AddressableService", "", "a")),
			want: []string{"cannot refer to itself", "spec.ref.name"},
		},
		"create with a reference to its namesake elsewhere": {
			reason: "that is another object",
			ctx:    create, in: newObject(withRef("samples.knative.dev/v1", "AddressableService", "elsewhere", "a")),
		},
		"create with a reference to a Service of the same name": {
			reason: "the usual case: the two carry one name",
			ctx:    create, in: newObject(withRef("v1", "Service", "", "a")),
		},
		"create with a reference to the same kind of another group": {
			reason: "a kind is a kind of its group",
			ctx:    create, in: newObject(withRef("example.com/v1", "AddressableService", "", "a")),
		},
		"update to a reference to itself": {
			reason: "a change of the spec is checked like a new one",
			ctx:    updateOf(newObject()), in: newObject(itself),
			want: []string{"cannot refer to itself", "spec.ref.name"},
		},
		"update of a label with a reference to itself": {
			reason: "an unchanged spec never blocks",
			ctx:    updateOf(newObject(itself)), in: newObject(itself, withLabel("a", "b")),
		},
		"update of the class with an unchanged reference to itself": {
			reason: "an unchanged spec excuses the spec only",
			ctx:    updateOf(newObject(itself, withClass("mallard"))), in: newObject(itself, withClass("other")),
			want: []string{"the class cannot be changed"},
		},
		"both faults": {
			reason: "one rejection names all errors, so that one edit can fix them",
			ctx:    create, in: newObject(itself, withClass("Not a name")),
			want: []string{"invalid class", "cannot refer to itself"},
		},
		"status update of a bad object": {
			reason: "a status cannot break these rules, and has to report the errors of the object",
			ctx: func(ctx context.Context) context.Context {
				return apis.WithinSubResourceUpdate(ctx, newObject(withClass("mallard")), "status")
			},
			in: newObject(itself, withClass("other")),
		},
		"update of a bad object that is being deleted": {
			reason: "it must be able to lose its finalizers",
			ctx:    updateOf(newObject(withClass("mallard"))),
			in:     newObject(beingDeleted, itself, withClass("other")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.in.Validate(tc.ctx(t.Context())).Filter(apis.ErrorLevel)
			if len(tc.want) == 0 {
				if err != nil {
					t.Errorf("%s\nrejected: %v", tc.reason, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("%s\naccepted, want a message with %q", tc.reason, tc.want)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s\nthe message %q lacks %q", tc.reason, err.Error(), part)
				}
			}
		})
	}
}

func TestValidate_ClassIsNotServed_Warns(t *testing.T) {
	const unserved = `this operator serves no AddressableService of class "malard"; its class is "mallard": ` +
		"metadata.annotations[samples.knative.dev/addressableservice.class]"
	for name, tc := range map[string]struct {
		in, old *AddressableService
		want    string
	}{
		"created with our class":  {in: newObject(withClass("mallard"))},
		"created without a class": {in: newObject()},
		"created with another":    {in: newObject(withClass("malard")), want: unserved},
		"updated with another":    {in: newObject(withClass("malard"), withLabel("a", "b")), old: newObject(withClass("malard")), want: unserved},
		"being deleted":           {in: newObject(withClass("malard"), beingDeleted), old: newObject(withClass("malard"))},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := apis.WithinCreate(t.Context())
			if tc.old != nil {
				ctx = apis.WithinUpdate(t.Context(), tc.old)
			}
			got := ""
			if warning := tc.in.Validate(ctx).Filter(apis.WarningLevel); warning != nil {
				got = warning.Error()
			}
			if got != tc.want {
				t.Errorf("the warning is %q, want %q", got, tc.want)
			}
		})
	}
}
