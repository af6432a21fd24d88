/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"context"
	"strings"
	"testing"

	"knative.dev/pkg/apis"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// The tests of v1 cover the rules that the object has to follow as an object of v1.
func TestValidate_InvalidServiceName_NamesTheField(t *testing.T) {
	named := &AddressableService{Spec: AddressableServiceSpec{ServiceName: "web"}}
	var unnamed, other AddressableService
	stored := &v1.AddressableService{}
	stored.Spec.Ref = v1.TargetReference{APIVersion: "example.com/v1", Kind: "Duck", Name: "a"}
	if err := stored.ConvertTo(t.Context(), &other); err != nil {
		t.Fatal(err)
	}
	relabeled := other.DeepCopy()
	relabeled.Labels = map[string]string{"a": "b"}

	updateOf := func(old *AddressableService) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, old) }
	}

	for name, test := range map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		in     *AddressableService
		want   string
	}{
		"create with a name":          {ctx: apis.WithinCreate, in: named},
		"create without a name":       {"the field is named as this version has it", apis.WithinCreate, &unnamed, "missing field(s): spec.serviceName"},
		"create with something else":  {"the schema rejects it, and v1 would too", apis.WithinCreate, &AddressableService{Spec: AddressableServiceSpec{ServiceName: "?"}}, "spec.ref.name"},
		"update that takes it away":   {"there would be no target", updateOf(named), &unnamed, "missing field(s): spec.serviceName"},
		"update of what has no name":  {"what was accepted once must not block a later update", updateOf(&unnamed), unnamed.DeepCopy(), ""},
		"update of what has another":  {"v1 has a target that no name stands for", updateOf(&other), relabeled, ""},
		"update that names a Service": {"the other target is replaced", updateOf(&other), named, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.in.Validate(test.ctx(t.Context()))
			if (test.want == "") != (got == nil) || (got != nil && !strings.Contains(got.Error(), test.want)) {
				t.Errorf("%s\ngot %v, want %q", test.reason, got, test.want)
			}
		})
	}
}
