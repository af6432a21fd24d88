/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

// boundsOfV1 are those of v1, except those of its ports, and those that it has in common with v1beta1.
var boundsOfV1 = []bound{
	required("spec", leftOut("spec.ref")),
	required("spec.ref", nil),
	{
		path: "spec.path", keyword: "minLength", says: tooShort,
		rejected: values("spec.path", ""), accepted: append(values("spec.path", "/"), unset("spec.path")),
	},
	{
		path: "spec.visibility", keyword: "enum", says: "Unsupported value",
		rejected: values("spec.visibility", "public", "Private"),
		accepted: values("spec.visibility", "ClusterLocal", "Public"),
	},

	required("spec.publish.alias", nil, unset("spec.publish")),
	{
		path: "spec.publish.alias", keyword: "minLength", says: tooShort,
		rejected: values("spec.publish.alias", ""), accepted: values("spec.publish.alias", "a"),
	},
	{
		path: "spec.publish.alias", keyword: "maxLength", says: "may not be more than 63 bytes",
		rejected: values("spec.publish.alias", long(64)), accepted: values("spec.publish.alias", long(63)),
	},
	{
		path: "spec.publish.alias", keyword: "pattern", says: "should match",
		rejected: values("spec.publish.alias", "A", "1", "-a", "a-", "a.b", "a_b", "a b"), accepted: values("spec.publish.alias", "a1", "a-b"),
	},
}
