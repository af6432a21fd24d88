/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/failures"
)

// says reports whether the message of a problem contains a text; no problem contains the empty one.
func says(p *failures.Failure, message string) bool {
	if p == nil {
		return message == ""
	}
	return message != "" && strings.Contains(p.Message, message)
}

func TestPlanAlias_States_ReturnsTheAction(t *testing.T) {
	for name, tc := range map[string]struct {
		mods    []mod
		want    *corev1.Service
		problem string
	}{
		"not requested":     {[]mod{status(at("http://" + host))}, nil, ""},
		"no address":        {[]mod{asAl, status(unresolved("R", "m"))}, nil, "there is no address to publish"},
		"host":              {[]mod{asAl, status(at("http://" + host))}, alias("al", "a", host), ""},
		"host of a port":    {[]mod{asAl, status(at("https://d.example.com:8443/path"))}, alias("al", "a", "d.example.com"), ""},
		"first address":     {[]mod{asAl, status(at("http://first", "http://second"))}, alias("al", "a", "first"), ""},
		"IPv4":              {[]mod{asAl, status(at("http://10.0.0.1:80"))}, nil, `host "10.0.0.1"`},
		"IPv6":              {[]mod{asAl, status(at("http://[::1]:80"))}, nil, `host "::1"`},
		"host with capital": {[]mod{asAl, status(at("http://Example.com"))}, nil, `host "Example.com"`},
		"host with _":       {[]mod{asAl, status(at("http://a_b"))}, nil, `host "a_b"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, p := planAlias(testConfig(), object("a", tc.mods...))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			if !says(p, tc.problem) || p != nil && (p.Reason == v1.ReasonNoAddress) != (name == "no address") {
				t.Errorf("the problem is %+v, want %q", p, tc.problem)
			}
		})
	}
}

func TestOwns_Service_ReportsItsController(t *testing.T) {
	for name, tc := range map[string]struct {
		as    *v1.AddressableService
		alias *corev1.Service
		want  bool
	}{
		"ours":                                 {object("a"), alias("al", "a", host), true},
		"of another object":                    {object("a"), alias("al", "b", host), false},
		"of one of the same name before":       {object("a", func(as *v1.AddressableService) { as.UID = "new" }), alias("al", "a", host), true},
		"with another's annotation":            {object("a"), alias("al", "a", host, func(s *corev1.Service) { s.Annotations = nil }), true},
		"without the label":                    {object("a"), alias("al", "a", host, func(s *corev1.Service) { s.Labels = nil }), false},
		"without an owner":                     {object("a"), service(directory, "al"), false},
		"without an owner, and we have no UID": {object("a", func(as *v1.AddressableService) { as.UID = "" }), service(directory, "al"), false},
		"empty label, and we have no UID":      {object("a", func(as *v1.AddressableService) { as.UID = "" }), service(directory, "al", emptyOwner), false},
	} {
		if got := owns(tc.as, tc.alias); got != tc.want {
			t.Errorf("%s: owns() = %t", name, got)
		}
	}
}

func emptyOwner(s *corev1.Service) { s.Labels = map[string]string{samples.AliasOwnerUIDLabelKey: ""} }

func TestCheckChain_References_ReturnsTheCycle(t *testing.T) {
	chain := func(n int) []*v1.AddressableService {
		var objects []*v1.AddressableService
		for i := range n {
			objects = append(objects, object(fmt.Sprintf("o%d", i), refTo(fmt.Sprintf("o%d", i+1))))
		}
		return append(objects, object(fmt.Sprintf("o%d", n)))
	}
	elsewhere := object("b", withRef("samples.knative.dev/v1", "AddressableService", ns, "a"))
	elsewhere.Namespace = "other"

	for name, tc := range map[string]struct {
		objects []*v1.AddressableService // the first is where the search begins
		want    string
	}{
		"no chain":               {[]*v1.AddressableService{object("a")}, ""},
		"chain":                  {[]*v1.AddressableService{object("a", refTo("b")), object("b", refTo("c")), object("c")}, ""},
		"chain to nothing":       {[]*v1.AddressableService{object("a", refTo("b"))}, ""},
		"itself":                 {[]*v1.AddressableService{object("a", refTo("a"))}, "ns/a -> ns/a"},
		"two":                    {[]*v1.AddressableService{object("a", refTo("b")), object("b", refTo("a"))}, "ns/a -> ns/b -> ns/a"},
		"three":                  {[]*v1.AddressableService{object("a", refTo("b")), object("b", refTo("c")), object("c", refTo("a"))}, "ns/a -> ns/b -> ns/c -> ns/a"},
		"a chain into a cycle":   {[]*v1.AddressableService{object("a", refTo("b")), object("b", refTo("c")), object("c", refTo("b"))}, "ns/a -> ns/b -> ns/c -> ns/b"},
		"through another class":  {[]*v1.AddressableService{object("a", refTo("b")), object("b", withClass("other"), refTo("a"))}, "ns/a -> ns/b -> ns/a"},
		"through another space":  {[]*v1.AddressableService{object("a", withRef("samples.knative.dev/v1", "AddressableService", "other", "b")), elsewhere}, "ns/a -> other/b -> ns/a"},
		"by another version":     {[]*v1.AddressableService{object("a", refTo("b")), object("b", withRef("samples.knative.dev/v1alpha1", "AddressableService", "", "a"))}, "ns/a -> ns/b -> ns/a"},
		"a long chain":           {chain(maxHops), ""},
		"a chain too long":       {chain(maxHops + 1), "the references lead through more than 32 AddressableServices"},
		"a namesake of its kind": {[]*v1.AddressableService{object("a", withRef("example.com/v1", "AddressableService", "", "a"))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, testConfig())
			for _, o := range tc.objects {
				if err := w.objects.Add(o); err != nil {
					t.Fatal(err)
				}
			}
			p := w.inner.checkChain(tc.objects[0])
			if !says(p, tc.want) || p != nil && p.Reason != v1.ReasonReferenceCycle {
				t.Errorf("the problem is %+v, want %q", p, tc.want)
			}
		})
	}
}
