/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

// boundsOfV1alpha1 are all of v1alpha1. That the name may be empty, and when, is for the webhook to judge.
var boundsOfV1alpha1 = []bound{
	required("spec.serviceName", nil),
	{
		path: "spec.serviceName", keyword: "maxLength", says: "may not be more than 253 bytes",
		rejected: values("spec.serviceName", long(254)), accepted: values("spec.serviceName", long(253)),
	},
	{
		path: "spec.serviceName", keyword: "pattern", says: "should match",
		rejected: values("spec.serviceName", "A", "-a", "a-", ".a", "a.", "a..b", "a.-b", "a_b", "a b", "a/b", "a\n", " "),
		accepted: values("spec.serviceName", "0", "a-b", "a.b"),
	},
}

// boundsOfV1beta1 are those of v1beta1, except those that it has in common with v1.
var boundsOfV1beta1 = []bound{
	// The webhook adds the exposure, and with it the spec.
	required("spec", leftOut("spec.ref")),
	required("spec.ref", nil),
	{
		path: "spec.port", keyword: "minimum", says: "should be greater than or equal to 1",
		rejected: values("spec.port", int64(-1), int64(0)),
		accepted: append(values("spec.port", int64(1)), unset("spec.port")),
	},
	{
		path: "spec.port", keyword: "maximum", says: "should be less than or equal to 65535",
		rejected: values("spec.port", int64(65536)), accepted: values("spec.port", int64(65535)),
	},
	{
		path: "spec.path", keyword: "minLength", says: tooShort,
		rejected: values("spec.path", ""), accepted: append(values("spec.path", "/"), unset("spec.path")),
	},
	{
		path: "spec.exposure", keyword: "enum", says: "Unsupported value",
		rejected: values("spec.exposure", "internal", "Public", "ClusterLocal"),
		accepted: values("spec.exposure", "Internal", "External"),
	},
}
