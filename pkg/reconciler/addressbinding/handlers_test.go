/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

// called records the objects with which a handler calls its function.
type called []any

func (c *called) call(obj any) { *c = append(*c, obj) }

func TestHandlers_SubjectUpdated_BothStatesUnlessAlike(t *testing.T) {
	withoutGenerations := func(u *unstructured.Unstructured) { u.SetGeneration(0) }
	for name, test := range map[string]struct {
		before, after subjectMod
		alike         bool
	}{
		"status":             {after: finished, alike: true},
		"another annotation": {after: func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"a": "b"}) }, alike: true},
		"spec":               {after: func(u *unstructured.Unstructured) { u.SetGeneration(2) }},
		"no generations":     {before: withoutGenerations, after: withoutGenerations},
		"labels":             {after: withLabels(nil)},
		"recreated":          {after: func(u *unstructured.Unstructured) { u.SetUID("new") }},
		"being deleted":      {after: goingAway},
		"mark dropped": {before: func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{samples.BoundVariablesAnnotationKey: "{}"})
		}},
		"controlled by another from": {after: controlled},
	} {
		before, after := deployment("d"), deployment("d")
		after.SetResourceVersion("2")
		for object, change := range map[*unstructured.Unstructured]subjectMod{before: test.before, after: test.after} {
			if change != nil {
				change(object)
			}
		}
		var got called
		whenChanged(got.call, readSubject).OnUpdate(before, after)
		if want := (called{before, after}); test.alike && len(got) > 0 || !test.alike && !slices.Equal(got, want) {
			t.Errorf("%s: called with %v", name, got)
		}
	}
}

func TestHandlers_BindingChanges_ContendersAreEnqueued(t *testing.T) {
	indexer := reconcilertest.Indexer(nil)
	for _, ab := range []*v1.AddressBinding{
		object("a", well), object("rival", well), object("of-peer", withVariable("PEER")), object("of-ducks", withSubject("example.com/v1", "Duck", "k")),
		object("elsewhere", func(ab *v1.AddressBinding) { ab.Namespace = "elsewhere" }),
	} {
		if err := indexer.Add(ab); err != nil {
			t.Fatal(err)
		}
	}
	changed := func(mods ...mod) *v1.AddressBinding {
		return object("a", append([]mod{well, func(ab *v1.AddressBinding) { ab.ResourceVersion, ab.Generation = "2", int64(1+len(mods)) }}, mods...)...)
	}
	ofStatus := func(change mark) *v1.AddressBinding {
		ab := changed()
		change(&ab.Status)
		return ab
	}
	gone := cache.DeletedFinalStateUnknown{Key: ns + "/a", Obj: object("a")}
	for name, test := range map[string]struct {
		event func(cache.ResourceEventHandler)
		want  []string
	}{
		"created":         {func(h cache.ResourceEventHandler) { h.OnAdd(object("a"), false) }, []string{"rival"}},
		"deleted":         {func(h cache.ResourceEventHandler) { h.OnDelete(object("a")) }, []string{"rival"}},
		"deletion missed": {func(h cache.ResourceEventHandler) { h.OnDelete(gone) }, []string{"rival"}},
		"conditions":      {func(h cache.ResourceEventHandler) { h.OnUpdate(object("a", well), ofStatus(intercepted)) }, nil},
		"value":           {func(h cache.ResourceEventHandler) { h.OnUpdate(object("a", well), ofStatus(resolvedTo(other))) }, []string{"rival"}},
		"not served": {func(h cache.ResourceEventHandler) {
			h.OnUpdate(object("a", well), ofStatus(notBoundBy(v1.ReasonSubjectKindNotFound, "no")))
		}, []string{"rival"}},
		"kinds":            {func(h cache.ResourceEventHandler) { h.OnUpdate(object("a", well), ofStatus(records(jobKind))) }, []string{"rival"}},
		"being deleted":    {func(h cache.ResourceEventHandler) { h.OnUpdate(object("a", well), changed(beingDeleted)) }, []string{"rival"}},
		"another variable": {func(h cache.ResourceEventHandler) { h.OnUpdate(object("a", well), changed(withVariable("PEER"))) }, []string{"of-peer", "rival"}},
	} {
		var got []string
		test.event(whenChanged(contenders(listers.NewAddressBindingLister(indexer), func(obj any) { got = append(got, obj.(*v1.AddressBinding).Name) }), readClaim))
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: enqueued are %v, want %v", name, got, test.want)
		}
	}
}
