/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	knativefuzzer "knative.dev/pkg/apis/testing/fuzzer"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// random makes the input of one reconciliation.
type random struct {
	*rand.Rand

	filler *randfill.Filler
}

func newRandom(t *testing.T) *random {
	t.Helper()
	source := testrand.Source(t)
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	return &random{
		Rand:   rand.New(source),
		filler: fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, knativefuzzer.Funcs), source, codecs),
	}
}

func pick[T any](r *random, choices ...T) T { return choices[r.Intn(len(choices))] }

// oneIn is true once in n times.
func (r *random) oneIn(n int) bool { return r.Intn(n) == 0 }

// surroundings are the objects that a random reference may lead to.
func (r *random) surroundings() []runtime.Object {
	all := []runtime.Object{
		service(ns, "target", withServicePort("web", 80, ""), withServicePort("secure", 443, pick(r, "", "https", "kubernetes.io/h2c", "?"))),
		service("other", "target"),
		object("b", r.aStatus()),
		object("c", refTo("a"), r.aStatus()),
		aDuck(ns, "d", addressStatus(pick(r, "http://d.example.com", "https://d:8443/a%2Fb/?q", "http://[::1]:9", "http://10.0.0.1", "/", "gopher://x"))),
		aDuck(ns, "e", pick(r, any("well"), any(map[string]any{}), any(map[string]any{"addresses": []any{map[string]any{"name": "web"}}}))),
		alias("al", pick(r, "a", "b", "nobody"), pick(r, host, "elsewhere.example.com"), stored),
		alias("old", pick(r, "a", "b"), host, stored),
	}
	if !r.oneIn(4) {
		all = append(all, namespace(directory))
	} else if r.oneIn(2) {
		all = append(all, namespace(directory, terminating))
	}
	return slices.DeleteFunc(all, func(runtime.Object) bool { return r.oneIn(8) })
}

// aStatus is one that a reconciliation could have left, or anything.
func (r *random) aStatus() mod {
	if r.oneIn(4) {
		return func(as *v1.AddressableService) { r.filler.Fill(&as.Status) }
	}
	marks := []mark{
		at(pick(r, "http://"+host, "https://d:8443/a", "http://a.ns.example.com")),
		unresolved(pick(r, v1.ReasonTargetNotFound, v1.ReasonReferenceCycle), "as before"),
		unpublished(pick(r, v1.ReasonAliasTaken, v1.ReasonPublishFailed), "as before"),
		published, notRequested, noAddress,
	}
	r.Shuffle(len(marks), func(i, j int) { marks[i], marks[j] = marks[j], marks[i] })
	return status(marks[:r.Intn(len(marks))]...)
}

// anObject refers to something that may exist, or is filled with anything.
func (r *random) anObject() *v1.AddressableService {
	as := object("a", pick(r,
		withRef("v1", "Service", pick(r, "", "", ns, "other"), "target"),
		refTo(pick(r, "a", "b", "c")),
		withRef("example.com/v1", "Duck", pick(r, "", "other"), pick(r, "d", "e", "f")),
		withRef(pick(r, "example.com/v2", "apps/v1", "a/b/c", ""), pick(r, "Duck", "Deployment", "Service", ""), "", "d"),
	))
	for range r.Intn(4) {
		as.Spec.Ports = append(as.Spec.Ports, port(
			pick(r, "web", "secure", "x"), pick[int32](r, 0, 80, 443, 65535), pick(r, "", "http", "https", "grpc", "kubernetes.io/ws")))
	}
	if r.oneIn(2) {
		withPath(pick(r, "/", "/a", "/a//b", "/!$&'()*+,;=:@-._~"))(as)
	}
	if r.oneIn(2) {
		as.Spec.Visibility = pick(r, v1.VisibilityPublic, "")
	}
	if r.oneIn(2) {
		publishedAs(pick(r, "al", "new"))(as)
	}
	if r.oneIn(8) {
		r.filler.Fill(&as.Spec)
	}
	r.aStatus()(as)
	as.Generation = r.Int63n(3)
	if r.oneIn(8) {
		as.Finalizers = pick(r, nil, []string{"other"})
	}
	if r.oneIn(16) {
		withClass(pick(r, "other", ""))(as)
	}
	if r.oneIn(16) {
		beingDeleted(as)
	}
	return as
}

// aConfig is any configuration that the parser accepts.
func (r *random) aConfig() *config.Addressable {
	return testConfig(func(c *config.Addressable) {
		c.AllowCrossNamespaceReferences = r.oneIn(2)
		c.Domain = pick(r, "example.com", "example.org", strings.Repeat("a.", 120)+"a")
		c.Scheme = pick(r, "http", "https")
		c.DirectoryNamespace = pick(r, directory, directory, "moved")
	})
}
