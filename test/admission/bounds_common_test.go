/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

// core is the reference to an object of the core group.
func core(kind string) change {
	return all(set("spec.ref.apiVersion", "v1"), set("spec.ref.kind", kind))
}

const (
	noDotSegments  = "!self.split('/').exists(s, s == '.' || s == '..')"
	pathCharacters = `self.matches("^(/[A-Za-z0-9._~!$&'()*+,;=:@-]*)+$")`
	coreIsAService = "self.apiVersion != 'v1' || self.kind == 'Service'"
)

// boundsOfRef are those of the target, which v1beta1 and v1 have.
var boundsOfRef = []bound{
	required("spec.ref.apiVersion", nil),
	{
		path: "spec.ref.apiVersion", keyword: "minLength", says: tooShort,
		rejected: values("spec.ref.apiVersion", ""), accepted: values("spec.ref.apiVersion", "w"),
	},
	{
		path: "spec.ref.apiVersion", keyword: "maxLength", says: "may not be more than 317 bytes",
		rejected: values("spec.ref.apiVersion", long(254)+"/"+long(63)), accepted: values("spec.ref.apiVersion", long(253)+"/"+long(63)),
	},
	{
		path: "spec.ref.apiVersion", keyword: "pattern", says: "should match",
		rejected: values("spec.ref.apiVersion", "V1", "1", "v1-", "/v1", "a/", "a/b/v1", "a..b/v1", "-a/v1", "a-/v1", "A/v1", "a_b/v1", " v1", "v1\n",
			"a/"+long(64)),
		accepted: values("spec.ref.apiVersion", "v2", "v1-x", "a/v1", "0/v1", "a.b-c.d/v1beta1", "a/"+long(63)),
	},

	required("spec.ref.kind", nil),
	{
		path: "spec.ref.kind", keyword: "minLength", says: tooShort,
		rejected: values("spec.ref.kind", ""), accepted: values("spec.ref.kind", "K"),
	},
	{
		path: "spec.ref.kind", keyword: "maxLength", says: "may not be more than 63 bytes",
		rejected: values("spec.ref.kind", long(64)), accepted: values("spec.ref.kind", long(63)),
	},
	{
		path: "spec.ref.kind", keyword: "pattern", says: "should match",
		rejected: values("spec.ref.kind", "1Thing", "Thing-1", "Thing.1", "Thing_1", "Thing 1", "Thing/1", "Thing\n", "Ding é"), accepted: values("spec.ref.kind", "Thing1", "tHING"),
	},
	{
		path: "spec.ref.namespace", keyword: "minLength", says: tooShort,
		rejected: values("spec.ref.namespace", ""), accepted: append(values("spec.ref.namespace", "a"), unset("spec.ref.namespace")),
	},
	{
		path: "spec.ref.namespace", keyword: "maxLength", says: "may not be more than 63 bytes",
		rejected: values("spec.ref.namespace", long(64)), accepted: values("spec.ref.namespace", long(63)),
	},
	{
		path: "spec.ref.namespace", keyword: "pattern", says: "should match",
		rejected: values("spec.ref.namespace", "A", "-a", "a-", "a.b", "a_b", "a b", "a/b"), accepted: values("spec.ref.namespace", "0", "a-b"),
	},

	required("spec.ref.name", nil),
	{
		path: "spec.ref.name", keyword: "minLength", says: tooShort,
		rejected: values("spec.ref.name", ""), accepted: values("spec.ref.name", "a"),
	},
	{
		path: "spec.ref.name", keyword: "maxLength", says: "may not be more than 253 bytes",
		rejected: values("spec.ref.name", long(254)), accepted: values("spec.ref.name", long(253)),
	},
	{
		path: "spec.ref.name", keyword: "pattern", says: "should match",
		rejected: values("spec.ref.name", "A", "-a", "a-", ".a", "a.", "a..b", "a.-b", "a_b", "a b", "a/b"),
		accepted: values("spec.ref.name", "0", "a-b", "a.b"),
	},
	{
		path: "spec.ref", keyword: "rule", rule: coreIsAService, says: "kind must be Service when apiVersion is v1",
		rejected: []change{core("Pod"), core("service")}, accepted: []change{core("Service"), set("spec.ref.kind", "Service"), set("spec.ref.apiVersion", "v2")},
	},
}

// boundsOfPath are those of the path that v1beta1 and v1 share. They differ for an empty one, which is absent at v1beta1.
var boundsOfPath = []bound{
	{
		path: "spec.path", keyword: "maxLength", says: "may not be more than 1024 bytes",
		rejected: values("spec.path", "/"+long(1024)), accepted: values("spec.path", "/"+long(1023)),
	},
	{
		path: "spec.path", keyword: "rule", rule: pathCharacters, says: "path must start with a slash and contain only",
		rejected: values("spec.path", "a", "a/b", "/a b", "/a?b", "/a#b", "/%41", "/a\\b", "/é", "/a\n"),
		accepted: values("spec.path", "/a", "/a/b/", "//", "/a-b_c.d~e!f$g&h'i(j)k*l+m,n;o=p:q@r"),
	},
	{
		path: "spec.path", keyword: "rule", rule: noDotSegments, says: "path must not hold the segments . or ..",
		rejected: values("spec.path", "/.", "/..", "/a/./b", "/a/../b", "/a/.."), accepted: values("spec.path", "/...", "/.a", "/a.", "/a/..b/c"),
	},
}
