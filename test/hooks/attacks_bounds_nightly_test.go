//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import "strings"

// inFile is a hook whose file has an operation of a type, with a specification that a command prints.
func inFile(operationType, spec string) attack {
	return attack{body: `{ printf '{"operationType": "` + operationType + `", "kind": "ConfigMap", "name": "target", "namespace": "%s", "spec": ' "$ns"
` + spec + `
echo '}'; } >"$KUBERNETES_OPERATION_PATH"`}
}

// repeated prints a text a number of times.
func repeated(text, n string) string { return `yes '` + text + `' | head -` + n + ` | tr -d '\n'` }

// expensive are attacks by operations that need much more memory or time than their size suggests.
var expensive = map[string]attack{
	"cycle": {body: `cat >"$KUBERNETES_OPERATION_PATH" <<EOF
operationType: MergePatch
kind: ConfigMap
namespace: $ns
name: target
spec: &a
  data: *a
EOF`},
	"laughs": {body: `{ printf 'operationType: MergePatch\nkind: ConfigMap\nname: target\nspec:\n  a0: &a0 [x]\n'
for i in {1..12}; do printf '  a%s: &a%s [' $i $i; printf "*a$((i - 1)),%.0s" {1..9}; printf ']\n'; done; } >"$KUBERNETES_OPERATION_PATH"`},
	"nested": inFile("MergePatch", `printf '{"data": '; `+repeated("[", "1000000")+"; "+repeated("]", "1000000")+`; printf '}'`),
	"nestedyaml": {body: `{ printf 'operationType: MergePatch\nkind: ConfigMap\nname: target\nspec: {data: '
` + repeated("[", "1000000") + "; " + repeated("]", "1000000") + `; echo '}'; } >"$KUBERNETES_OPERATION_PATH"`},
	"numerous": inFile("MergePatch", `printf '{"data": ['; `+repeated("0,", "7900000")+`; printf '0]}'`),
	"empties":  inFile("MergePatch", `printf '{"data": ['; `+repeated("{},", "5000000")+`; printf '{}]}'`),
	"listed": {body: `{ printf 'operationType: MergePatch\nkind: ConfigMap\nname: target\nspec:\n  data:\n'
yes '  - 0' | head -2500000; } >"$KUBERNETES_OPERATION_PATH"`},
	// The API server rejects what the limits of files permit.
	"permitted": inFile("MergePatch", `printf '{"data": ['; `+repeated("0,", "240000")+`; printf '0]}'`),
	"permittedyaml": {body: `{ printf "operationType: MergePatch\nkind: ConfigMap\nnamespace: $ns\nname: target\nspec:\n  data:\n"
yes '  - 0' | head -230000; } >"$KUBERNETES_OPERATION_PATH"`},
	"copies": inFile("JSONPatch", `printf '['; for i in {1..30}; do printf '{"op": "copy", "from": "/data", "path": "/data/c%s"},' "$i"; done
printf '{"op": "add", "path": "/data/b", "value": "c"}]'`),
	"large":    inFile("JSONPatch", `printf '[{"op": "add", "path": "/data/b", "value": "'; `+repeated("xxxxxxxxx", "400000")+`; printf '"}]'`),
	"null":     inFile("JSONPatch", `printf '[{"op": "test", "path": "/metadata/finalizers", "value": [null]}, {"op": "add", "path": "/metadata/finalizers/-", "value": "a/b"}]'`),
	"doubles":  {body: `crud::jq_patch -n "$ns" ConfigMap target '.data.a = (reduce range(13) as $i ("x" * 1000000; . + .) | length | tostring)'`},
	"recurses": {body: `crud::jq_patch -n "$ns" ConfigMap target 'def f: [f]; f'`},
	"pipes":    {body: `crud::jq_patch -n "$ns" ConfigMap target "` + strings.Repeat(".|", 50_000) + `."`},
}
