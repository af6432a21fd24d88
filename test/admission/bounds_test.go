/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"fmt"
	"strings"
)

// bound is a bound of the schema, with changes that it refuses and the nearest that it lets pass.
type bound struct {
	// path is the field in the schema, with [] for the items of a list; field is what a refusal names if not that.
	path, field string
	// keyword is that by which the schema states the bound, and rule the CEL expression if it is a rule.
	keyword, rule string
	// says is what the refusal says beside the field's path.
	says              string
	refused, accepted []change
	// zero are fields with their zero values, which the schema refuses and the webhook takes for none.
	zero map[string]any
}

func (b bound) String() string { return strings.TrimSpace(b.path + " " + b.keyword + " " + b.rule) }

// values are changes of one field, each to another value.
func values(path string, vs ...any) []change {
	changes := make([]change, 0, len(vs))
	for _, v := range vs {
		changes = append(changes, set(path, v))
	}
	return changes
}

// long returns a text of n characters.
func long(n int) string { return strings.Repeat("a", n) }

// ports returns a list of n ports with different names and numbers.
func ports(n int) []any {
	list := make([]any, 0, n)
	for i := range n {
		list = append(list, port(fmt.Sprintf("port-%d", i), int64(i+1)))
	}
	return list
}

func port(name string, number int64) map[string]any {
	return map[string]any{"name": name, "port": number}
}

// core is the reference to an object of the core group.
func core(kind string) change {
	return all(set("spec.ref.apiVersion", "v1"), set("spec.ref.kind", kind))
}

const (
	uniquePorts    = "self.all(p, !has(p.port) || self.exists_one(q, has(q.port) && q.port == p.port))"
	noDotSegments  = "!self.split('/').exists(s, s == '.' || s == '..')"
	coreIsAService = "self.apiVersion != 'v1' || self.kind == 'Service'"
)

// bounds are all bounds of the spec; TestEveryBoundHasACase sees to that.
var bounds = []bound{
	{path: "spec", keyword: "required", says: "Required value", refused: []change{unset("spec")}, accepted: []change{all()}},
	{path: "spec.ref", keyword: "required", says: "Required value", refused: []change{unset("spec.ref")}, accepted: []change{all()}},

	{path: "spec.ref.apiVersion", keyword: "required", says: "Required value", refused: []change{unset("spec.ref.apiVersion")}, accepted: []change{all()}},
	{
		path: "spec.ref.apiVersion", keyword: "minLength", says: "should be at least 1 chars long",
		refused: values("spec.ref.apiVersion", ""), accepted: values("spec.ref.apiVersion", "w"),
	},
	{
		path: "spec.ref.apiVersion", keyword: "maxLength", says: "may not be more than 317 bytes",
		refused: values("spec.ref.apiVersion", long(254)+"/"+long(63)), accepted: values("spec.ref.apiVersion", long(253)+"/"+long(63)),
	},
	{
		path: "spec.ref.apiVersion", keyword: "pattern", says: "should match",
		refused: values("spec.ref.apiVersion", "V1", "1", "v1-", "/v1", "a/", "a/b/v1", "a..b/v1", "-a/v1", "a-/v1", "A/v1", "a_b/v1", " v1", "v1\n",
			"a/"+long(64)),
		accepted: values("spec.ref.apiVersion", "v2", "v1-x", "a/v1", "0/v1", "a.b-c.d/v1beta1", "a/"+long(63)),
	},

	{path: "spec.ref.kind", keyword: "required", says: "Required value", refused: []change{unset("spec.ref.kind")}, accepted: []change{all()}},
	{
		path: "spec.ref.kind", keyword: "minLength", says: "should be at least 1 chars long",
		refused: values("spec.ref.kind", ""), accepted: values("spec.ref.kind", "K"),
	},
	{
		path: "spec.ref.kind", keyword: "maxLength", says: "may not be more than 63 bytes",
		refused: values("spec.ref.kind", long(64)), accepted: values("spec.ref.kind", long(63)),
	},
	{
		path: "spec.ref.kind", keyword: "pattern", says: "should match",
		refused: values("spec.ref.kind", "1Thing", "Thing-1", "Thing.1", "Thing_1", "Thing 1", "Thing/1", "Thing\n", "Ding é"), accepted: values("spec.ref.kind", "Thing1", "tHING"),
	},
	{
		path: "spec.ref.namespace", keyword: "minLength", says: "should be at least 1 chars long",
		zero: map[string]any{"spec.ref.namespace": ""}, accepted: append(values("spec.ref.namespace", "a"), unset("spec.ref.namespace")),
	},
	{
		path: "spec.ref.namespace", keyword: "maxLength", says: "may not be more than 63 bytes",
		refused: values("spec.ref.namespace", long(64)), accepted: values("spec.ref.namespace", long(63)),
	},
	{
		path: "spec.ref.namespace", keyword: "pattern", says: "should match",
		refused: values("spec.ref.namespace", "A", "-a", "a-", "a.b", "a_b", "a b", "a/b"), accepted: values("spec.ref.namespace", "0", "a-b"),
	},

	{path: "spec.ref.name", keyword: "required", says: "Required value", refused: []change{unset("spec.ref.name")}, accepted: []change{all()}},
	{
		path: "spec.ref.name", keyword: "minLength", says: "should be at least 1 chars long",
		refused: values("spec.ref.name", ""), accepted: values("spec.ref.name", "a"),
	},
	{
		path: "spec.ref.name", keyword: "maxLength", says: "may not be more than 253 bytes",
		refused: values("spec.ref.name", long(254)), accepted: values("spec.ref.name", long(253)),
	},
	{
		path: "spec.ref.name", keyword: "pattern", says: "should match",
		refused:  values("spec.ref.name", "A", "-a", "a-", ".a", "a.", "a..b", "a.-b", "a_b", "a b", "a/b"),
		accepted: values("spec.ref.name", "0", "a-b", "a.b"),
	},
	{
		path: "spec.ref", keyword: "rule", rule: coreIsAService, says: "kind must be Service when apiVersion is v1",
		refused: []change{core("Pod"), core("service")}, accepted: []change{core("Service"), set("spec.ref.kind", "Service"), set("spec.ref.apiVersion", "v2")},
	},

	{
		path: "spec.ports", keyword: "maxItems", says: "must have at most 16 items",
		refused: values("spec.ports", ports(17)), accepted: append(values("spec.ports", ports(16)), unset("spec.ports")),
	},
	{
		path: "spec.ports", keyword: "x-kubernetes-list-map-keys", field: "spec.ports[]", says: "Duplicate value",
		refused:  values("spec.ports", []any{port("a", 1), port("a", 2)}),
		accepted: values("spec.ports", []any{port("a", 1), port("b", 2)}),
	},
	{
		path: "spec.ports", keyword: "rule", rule: uniquePorts, says: "ports must not name one port number twice",
		refused:  values("spec.ports", []any{port("a", 1), port("b", 1)}, []any{port("a", 1), map[string]any{"name": "b"}, port("c", 1)}),
		accepted: values("spec.ports", []any{port("a", 1), map[string]any{"name": "b"}, map[string]any{"name": "c"}, port("d", 2)}),
	},
	{path: "spec.ports[].name", keyword: "required", says: "Required value", refused: []change{unset("spec.ports.0.name")}, accepted: []change{all()}},
	{
		path: "spec.ports[].name", keyword: "minLength", says: "should be at least 1 chars long",
		refused: values("spec.ports.0.name", ""), accepted: values("spec.ports.0.name", "a"),
	},
	{
		path: "spec.ports[].name", keyword: "maxLength", says: "may not be more than 63 bytes",
		refused: values("spec.ports.0.name", long(64)), accepted: values("spec.ports.0.name", long(63)),
	},
	{
		path: "spec.ports[].name", keyword: "pattern", says: "should match",
		refused: values("spec.ports.0.name", "A", "-a", "a-", "a.b", "a_b", "a b"), accepted: values("spec.ports.0.name", "0", "a-b"),
	},
	{
		path: "spec.ports[].port", keyword: "minimum", says: "should be greater than or equal to 1",
		refused: values("spec.ports.0.port", int64(-1)), zero: map[string]any{"spec.ports.0.port": int64(0)},
		accepted: append(values("spec.ports.0.port", int64(1)), unset("spec.ports.0.port")),
	},
	{
		path: "spec.ports[].port", keyword: "maximum", says: "should be less than or equal to 65535",
		refused: values("spec.ports.0.port", int64(65536)), accepted: values("spec.ports.0.port", int64(65535)),
	},
	{
		path: "spec.ports[].appProtocol", keyword: "enum", says: "Unsupported value",
		refused: values("spec.ports.0.appProtocol", "HTTP", "http2", "tcp", "kubernetes.io/http"), zero: map[string]any{"spec.ports.0.appProtocol": ""},
		accepted: append(values("spec.ports.0.appProtocol", "http", "https", "grpc", "kubernetes.io/h2c", "kubernetes.io/ws", "kubernetes.io/wss"),
			unset("spec.ports.0.appProtocol")),
	},

	{
		path: "spec.path", keyword: "minLength", says: "should be at least 1 chars long",
		refused: values("spec.path", ""), accepted: append(values("spec.path", "/"), unset("spec.path")),
	},
	{
		path: "spec.path", keyword: "maxLength", says: "may not be more than 1024 bytes",
		refused: values("spec.path", "/"+long(1024)), accepted: values("spec.path", "/"+long(1023)),
	},
	{
		path: "spec.path", keyword: "pattern", says: "should match",
		refused:  values("spec.path", "a", "a/b", "/a b", "/a?b", "/a#b", "/%41", "/a\\b", "/é", "/a\n"),
		accepted: values("spec.path", "/a", "/a/b/", "//", "/a-b_c.d~e!f$g&h'i(j)k*l+m,n;o=p:q@r"),
	},
	{
		path: "spec.path", keyword: "rule", rule: noDotSegments, says: "path must not hold the segments . or ..",
		refused: values("spec.path", "/.", "/..", "/a/./b", "/a/../b", "/a/.."), accepted: values("spec.path", "/...", "/.a", "/a.", "/a/..b/c"),
	},

	{
		path: "spec.visibility", keyword: "enum", says: "Unsupported value",
		refused: values("spec.visibility", "public", "Private"), zero: map[string]any{"spec.visibility": ""},
		accepted: values("spec.visibility", "ClusterLocal", "Public"),
	},

	{path: "spec.publish.alias", keyword: "required", says: "Required value", refused: []change{unset("spec.publish.alias")}, accepted: []change{unset("spec.publish")}},
	{
		path: "spec.publish.alias", keyword: "minLength", says: "should be at least 1 chars long",
		refused: values("spec.publish.alias", ""), accepted: values("spec.publish.alias", "a"),
	},
	{
		path: "spec.publish.alias", keyword: "maxLength", says: "may not be more than 63 bytes",
		refused: values("spec.publish.alias", long(64)), accepted: values("spec.publish.alias", long(63)),
	},
	{
		path: "spec.publish.alias", keyword: "pattern", says: "should match",
		refused: values("spec.publish.alias", "A", "1", "-a", "a-", "a.b", "a_b", "a b"), accepted: values("spec.publish.alias", "a1", "a-b"),
	},
}
