//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

// attack is a hook that tries to harm its process.
type attack struct{ settings, body, filtered string } // filtered is another binding

// attacks are those in addition to hostile.
var attacks = map[string]attack{
	// Programs.
	"fork":       {body: `for i in {1..60}; do sleep 1000 & done; exit 1`},
	"holder":     {body: `setsid sleep 1000 & exit 1`},
	"unnamed":    {body: `env -i setsid sleep 20 & exit 1`},
	"ignores":    {settings: "timeout: 2s", body: `trap '' TERM; while :; do sleep 0.2; done`},
	"replaced":   {settings: "timeout: 2s", body: `exec sleep 1000`},
	"spins":      {settings: "timeout: 2s", body: `while :; do :; done`},
	"binary":     {body: `head -c 2000000 /dev/urandom; exit 1`},
	"disk":       {body: `head -c 100000000 /dev/zero >"$TMPDIR/large"; exit 1`},
	"overwrites": {body: `head -c 20000000 /dev/zero >"$BINDING_CONTEXT_PATH"; cp "$BINDING_CONTEXT_PATH" "$METRICS_PATH"; exit 1`},
	"locked":     {body: `chmod 000 "$TMPDIR"; exit 1`},
	"device":     {body: `rm "$KUBERNETES_OPERATION_PATH"; ln -s /dev/zero "$KUBERNETES_OPERATION_PATH"`},
	// Operations.
	"unknown": {body: `for i in {1..200}; do echo '{"operationType": "MergePatch", "kind": "Nothing'$i'", "name": "a", "spec": {"a": "b"}}'; done >"$KUBERNETES_OPERATION_PATH"`},
	"many": {body: `for i in {1..1500}; do
echo '{"operationType": "MergePatch", "kind": "ConfigMap", "namespace": "'"$ns"'", "name": "none-'$i'", "ignoreMissing": true, "spec": {"data": {"a": "b"}}}'
done >"$KUBERNETES_OPERATION_PATH"; crud::merge_patch -n "$ns" ConfigMap none '{"data": {"a": "b"}}'`},
	"stale":   {body: `crud::merge_patch -n "$ns" --resource-version 1 ConfigMap target '{"data": {"b": "c"}}'`},
	"waits":   {body: `crud::ensure_deleted -n "$ns" --wait 5m ConfigMap target`},
	"holds":   {body: `crud::ensure_deleted -n "$ns" ConfigMap target; crud::create_or_update --arg ns="$ns" '{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: "target"}}'`},
	"numbers": {body: `for i in {1..60000}; do echo "{\"name\": \"m$i\", \"set\": 1}"; done | head -c 1000000 >"$METRICS_PATH"`},
	"series":  {body: `for i in {1..600}; do echo "{\"name\": \"series\", \"set\": 1, \"labels\": {\"a\": \"$i$RANDOM\"}}"; done >"$METRICS_PATH"`},
	"replies": {body: `cat "$BINDING_CONTEXT_PATH" >"$KUBERNETES_OPERATION_PATH"; head -c 1000000 /dev/urandom >>"$KUBERNETES_OPERATION_PATH"`},
	"jqloops": {body: `crud::jq_patch -n "$ns" ConfigMap target 'last(repeat(.))'; crud::jq_patch -n "$ns" ConfigMap target '[range(1e9)]'`},
	"wide":    {body: `crud::context '[range(1e7)]' >/dev/null; exit 1`},
}
