/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"math/rand"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"knative.dev/pkg/apis"
	knativefuzzer "knative.dev/pkg/apis/testing/fuzzer"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// randomFiller fills every field with anything, and those that decide something
// often with what makes the decision interesting.
func randomFiller(t *testing.T, source rand.Source) *randfill.Filler {
	t.Helper()
	codecs := serializer.NewCodecFactory(newScheme(t))
	return fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, knativefuzzer.Funcs,
		func(serializer.CodecFactory) []any {
			return []any{
				func(as *AddressableService, c randfill.Continue) {
					c.FillNoCustom(as)
					if c.Bool() {
						as.DeletionTimestamp = nil
					}
					if c.Bool() {
						withClass([]string{"", samples.ClassMallard, "other", "Not a name"}[c.Intn(4)])(as)
					}
					if c.Bool() {
						withRef("samples.knative.dev/v1", "AddressableService", "", as.Name)(as)
					}
				},
			}
		}), source, codecs)
}

// randomAdmission is one of the situations in which admission calls a type.
func randomAdmission(ctx context.Context, r *rand.Rand, old *AddressableService) context.Context {
	switch r.Intn(5) {
	case 0:
		return apis.WithinCreate(ctx)
	case 1:
		return apis.WithinUpdate(ctx, old)
	case 2:
		return apis.WithinSubResourceUpdate(ctx, old, "status")
	case 3:
		return apis.WithinDelete(ctx)
	default:
		return ctx
	}
}

func TestAdmission_RandomObjects_NeverPanics(t *testing.T) {
	compareURLs := cmp.AllowUnexported(url.Userinfo{})
	source := testrand.Source(t)
	r := rand.New(source)
	filler := randomFiller(t, source)
	for range testrand.Inputs(t) {
		old, as := &AddressableService{}, &AddressableService{}
		filler.Fill(old)
		filler.Fill(as)
		if r.Intn(2) == 0 {
			as.Spec = *old.Spec.DeepCopy()
		}
		cfg := config.DefaultAddressable()
		cfg.DefaultClass = []string{samples.ClassMallard, "other"}[r.Intn(2)]
		ctx := randomAdmission(config.ToContext(t.Context(), cfg), r, old)

		as.SetDefaults(ctx)
		once := as.DeepCopy()
		as.SetDefaults(ctx)
		if diff := cmp.Diff(once, as, compareURLs); diff != "" {
			t.Fatalf("a second SetDefaults changed something (-once, +twice):\n%s", diff)
		}

		err := as.Validate(ctx)
		if diff := cmp.Diff(once, as, compareURLs); diff != "" {
			t.Fatalf("Validate changed the object (-before, +after):\n%s", diff)
		}
		if err == nil {
			continue
		}
		if as.DeletionTimestamp != nil || apis.GetUpdatedSubresource(ctx) != "" {
			t.Fatalf("rejected though it is being deleted or its status is written: %v", err)
		}
		if err.Error() == "" {
			t.Fatal("rejected without a message")
		}
	}
}
