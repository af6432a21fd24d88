/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import "fmt"

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

const uniquePorts = "self.all(p, !has(p.port) || self.exists_one(q, has(q.port) && q.port == p.port))"

// boundsOfPorts are those of v1's ports.
var boundsOfPorts = []bound{
	{
		path: "spec.ports", keyword: "maxItems", says: "must have at most 16 items",
		rejected: values("spec.ports", ports(17)), accepted: append(values("spec.ports", ports(16)), unset("spec.ports")),
	},
	{
		path: "spec.ports", keyword: "x-kubernetes-list-map-keys", field: "spec.ports[]", says: "Duplicate value",
		rejected: values("spec.ports", []any{port("a", 1), port("a", 2)}),
		accepted: values("spec.ports", []any{port("a", 1), port("b", 2)}),
	},
	{
		path: "spec.ports", keyword: "rule", rule: uniquePorts, says: "ports must not name one port number twice",
		rejected: values("spec.ports", []any{port("a", 1), port("b", 1)}, []any{port("a", 1), map[string]any{"name": "b"}, port("c", 1)}),
		accepted: values("spec.ports", []any{port("a", 1), map[string]any{"name": "b"}, map[string]any{"name": "c"}, port("d", 2)}),
	},
	required("spec.ports[].name", nil),
	{
		path: "spec.ports[].name", keyword: "minLength", says: tooShort,
		rejected: values("spec.ports.0.name", ""), accepted: values("spec.ports.0.name", "a"),
	},
	{
		path: "spec.ports[].name", keyword: "maxLength", says: "may not be more than 63 bytes",
		rejected: values("spec.ports.0.name", long(64)), accepted: values("spec.ports.0.name", long(63)),
	},
	{
		path: "spec.ports[].name", keyword: "pattern", says: "should match",
		rejected: values("spec.ports.0.name", "A", "-a", "a-", "a.b", "a_b", "a b"), accepted: values("spec.ports.0.name", "0", "a-b"),
	},
	{
		path: "spec.ports[].port", keyword: "minimum", says: "should be greater than or equal to 1",
		rejected: values("spec.ports.0.port", int64(-1), int64(0)),
		accepted: append(values("spec.ports.0.port", int64(1)), unset("spec.ports.0.port")),
	},
	{
		path: "spec.ports[].port", keyword: "maximum", says: "should be less than or equal to 65535",
		rejected: values("spec.ports.0.port", int64(65536)), accepted: values("spec.ports.0.port", int64(65535)),
	},
	{
		path: "spec.ports[].appProtocol", keyword: "enum", says: "Unsupported value",
		rejected: values("spec.ports.0.appProtocol", "HTTP", "http2", "tcp", "kubernetes.io/http", ""),
		accepted: append(values("spec.ports.0.appProtocol", "http", "https", "grpc", "kubernetes.io/h2c", "kubernetes.io/ws", "kubernetes.io/wss"),
			unset("spec.ports.0.appProtocol")),
	},
}
