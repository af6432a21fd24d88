/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestT32_Kind_WithoutAPIVersion_IsFoundOrExplained(t *testing.T) {
	s := newScene(t)
	for _, name := range []string{"Deployment", "deployment", "deployments", "deploy", "DEPLOY"} {
		if message := s.fails(crud.MergePatch(s.ref(name, "missing"), `{"spec":{"replicas":1}}`), crud.NotFound); !strings.Contains(message, "Deployment "+s.ns+"/missing") {
			t.Errorf("%s: the message is %s", name, message)
		}
	}
	s.sent()
	for name, want := range map[string]string{"Deploymnet": "did you mean Deployment?", "Nonsense": "does not serve kind Nonsense"} {
		if message := s.fails(crud.EnsureDeleted(s.ref(name, "a")), crud.KindUnknown); !strings.Contains(message, want) {
			t.Errorf("%s: the message is %s, want %q in it", name, message, want)
		}
	}
	if message := s.fails(crud.EnsureDeleted(s.ref("Event", "a")), crud.KindAmbiguous); !strings.Contains(message, "core, events.k8s.io") {
		t.Errorf("Event: the message is %s", message)
	}
	wrong := s.ref("Deployment", "a")
	wrong.APIVersion = "extensions/v1beta1"
	if message := s.fails(crud.EnsureDeleted(wrong), crud.KindUnknown); !strings.Contains(message, "it is served as apps/v1") {
		t.Errorf("extensions/v1beta1: the message is %s", message)
	}
	s.expectSent(0, 0)
}

func TestT33_Namespace_DoesNotFitTheKind_IsRejected(t *testing.T) {
	s := newScene(t)
	nowhere, somewhere := crud.Ref{Kind: "ConfigMap", Name: "a"}, s.ref("ClusterThing", "a")
	configMap := s.configMap("a", nil)
	configMap.Namespace = ""
	s.sent()
	for _, op := range []crud.Operation{
		crud.CreateOrUpdate(configMap), crud.Create(configMap), crud.CreateIfNotExists(configMap), crud.EnsureDeleted(nowhere), crud.MergePatch(nowhere, `{"data":{}}`),
		ignoreMissing(crud.JQPatch(nowhere, ".")), crud.JSONPatch(nowhere, "[]"),
		crud.CreateOrUpdate(s.object(`{apiVersion: ` + group + `/v1, kind: ClusterThing, metadata: {name: a}}`)), crud.EnsureDeleted(somewhere),
		ignoreMissing(crud.MergePatch(somewhere, `{"spec":{}}`)),
	} {
		s.fails(op, crud.ScopeMismatch)
	}
	s.expectSent(0, 0)
}

func TestOperation_Malformed_NamesTheField(t *testing.T) {
	s := newScene(t)
	configMap := s.ref("ConfigMap", "a")
	with := func(op crud.Operation, set func(*crud.Operation)) crud.Operation {
		set(&op)
		return op
	}
	for want, op := range map[string]crud.Operation{
		"kind is missing":                 crud.EnsureDeleted(crud.Ref{Namespace: s.ns, Name: "a"}),
		"name is missing":                 crud.EnsureDeleted(s.ref("ConfigMap", "")),
		`name "a/b"`:                      crud.EnsureDeleted(s.ref("ConfigMap", "a/b")),
		`operationType "" does not exist`: {Ref: configMap},
		"ignoreMissing does not belong to EnsureDeleted":      ignoreMissing(crud.EnsureDeleted(configMap)),
		`strategy "mrege" does not exist: use merge or apply`: with(crud.CreateOrUpdate(s.configMap("a", nil)), func(op *crud.Operation) { op.Strategy = "mrege" }),
		"the merge patch is not a JSON object":                crud.MergePatch(configMap, `[]`),
		"the merge patch removes metadata.resourceVersion":    crud.MergePatch(configMap, `{"metadata":{"resourceVersion":null}}`),
		"the JSON patch is not a list":                        crud.JSONPatch(configMap, `{}`),
		`op "set" does not exist`:                             crud.JSONPatch(configMap, `[{"op":"set","path":"/data"}]`),
		"add of /data lacks value":                            crud.JSONPatch(configMap, `[{"op":"add","path":"/data"}]`),
		"path must be a JSON pointer":                         crud.JSONPatch(configMap, `[{"op":"remove","path":"data"}]`),
		"encoding the patch":                                  crud.MergePatch(configMap, func() {}),
	} {
		if message := s.fails(op, crud.Malformed); !strings.Contains(message, want) {
			t.Errorf("the message is %q, want %q in it", message, want)
		}
	}
	s.expectSent(0, 0)
}

// Another client defines the kind after the client has listed the kinds.
func TestT32_Kind_DefinedByAnotherClient_IsFoundByDiscovery(t *testing.T) {
	s := newScene(t)
	s.fails(crud.EnsureDeleted(s.ref("Fresh", "a")), crud.KindUnknown)
	s.env.Define(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: freshes.fresh.example.com}
spec:
  group: fresh.example.com
  scope: Namespaced
  names: {kind: Fresh, plural: freshes}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
	listed := s.proxy.Count(func(r harness.Request) bool { return r.Resource == "" && strings.HasPrefix(r.Path, "/apis") })
	harness.Eventually(t, "the client, which lists the kinds at most once a second, finds the kind", func(ctx context.Context) error {
		_, err := s.client.Run(ctx, crud.EnsureDeleted(s.ref("Fresh", "a")))
		return err
	})
	before := listed()
	s.run(crud.EnsureDeleted(s.ref("Fresh", "a")), crud.AlreadyAbsent)
	if n := listed(); before == 0 || n != before {
		t.Errorf("the kinds were listed in %d requests, and in %d when they were known", before, n-before)
	}
}
