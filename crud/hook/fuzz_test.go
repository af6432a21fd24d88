/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// always answers discovery with ConfigMaps, and other requests with an object.
func always(object string) transport {
	return func(request *http.Request) (*http.Response, error) { return respond(request, object) }
}

func respond(request *http.Request, object string) (*http.Response, error) {
	var answer any
	switch request.URL.Path {
	case "/api":
		answer = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "/apis":
		answer = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	case "/api/v1":
		answer = metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1", APIResources: []metav1.APIResource{{
			Name: "configmaps", SingularName: "configmap", Kind: "ConfigMap", Namespaced: true, Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"},
		}}}
	default:
		answer = json.RawMessage(object)
	}
	encoded, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request, Body: io.NopCloser(bytes.NewReader(encoded)),
	}, err
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// FuzzOutput has the process read and execute what a hook wrote.
func FuzzOutput(f *testing.F) {
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"d","uid":"u","resourceVersion":"1"},"data":{"k":"1","list":["a"]}}`
	const configMap = `"kind":"ConfigMap","namespace":"d","name":"a"`
	for _, file := range []string{
		"", `{"file":{"onFailure":"continue","preflight":"off"}}{"operationType":"JQPatch",` + configMap + `,"spec":".data.k = \"2\""}`,
		`[{"operationType":"JSONPatch",` + configMap + `,"spec":[{"op":"test","path":"/data/list","value":[null]},{"op":"add","path":"/data/list/-","value":1}]}]`,
		`{"operationType":"JSONPatch",` + configMap + `,"ignoreMissingPaths":true,"spec":[{"op":"remove","path":"/data/x"},{"op":"copy","from":"/data","path":"/data/x"},{"op":"move","from":"/data","path":""}]}`,
		"operationType: CreateOrUpdate\nstrategy: apply\nspec: &a\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a, namespace: d}\n  data: {k: *a}\n",
		"operationType: Create\nspec: {apiVersion: v1, kind: ConfigMapList, items: [{metadata: {name: a, namespace: d}, data: null}, {<<: {metadata: 1}}]}\n",
		"operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: d, labels: [a], annotations: 1, finalizers: {}, ownerReferences: [1]}}\n",
		"operationType: EnsureDeleted\nkind: ConfigMap\nnamespace: d\nname: a\nwait: 0s\npreconditions: {uid: u, resourceVersion: '1'}\nownedBy: x\n",
		`{"operationType":"MergePatch",` + configMap + `,"statusPatch":true,"applyOnHookError":true,"spec":{"metadata":[],"status":null}}`,
	} {
		f.Add([]byte(file), []byte(`{"allowed":true,"patch":"W3sib3AiOiJ0ZXN0IiwicGF0aCI6Ii9saXN0IiwidmFsdWUiOltudWxsXX1d"}`), []byte(`{"name":"a","action":"observe","value":1,"buckets":[1,2]}`))
	}
	f.Add([]byte("- a\n- *a"), []byte(`{"allowed":true,"patch":"bnVsbA=="}`), []byte(`{"name":"a","set":1e999}`))
	f.Fuzz(func(t *testing.T, written, response, measured []byte) {
		client, err := crud.New(&rest.Config{Host: "http://a", QPS: -1, Transport: always(object)}, crud.Options{FieldManager: "fuzz", Backoff: wait.Backoff{Steps: 2, Duration: 1}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = parseConfig(written) // most are no configuration
		file, err := operations.Parse(written)
		if _, ok := errors.AsType[*operations.Error](err); err != nil && (!ok || file.Operations != nil) {
			t.Fatalf("got %d operations, %v", len(file.Operations), err)
		}
		run := &Run{}
		for _, op := range file.Operations {
			if err := op.Validate(); err != nil {
				t.Fatalf("the invalid operation %+v: %v", op, err)
			}
			op.Repeatable()
			op.RequiredVersion()
			client.AddConfidential(&run.values, op)
			if op.Wait > 0 {
				return
			}
		}
		_ = Settings{Namespaces: []string{"d"}}.check(file.Operations)
		file.Task = "t"
		results, err := client.RunPlan(t.Context(), file.Plan)
		if err != nil && strings.Contains(err.Error(), "panicked") {
			t.Fatal(err)
		}
		file.Report(results, err)
		if decoded, err := decodeResponse(response); err == nil {
			request := &admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: []byte(`{"list":["a"]}`)}}
			if err := decoded.check(t.Context(), TypeMutating, request); err == nil {
				decoded.toAPI(&run.values)
			}
		}
		if lines, err := parseMetrics(measured, ""); err == nil {
			all := map[string]instrument{}
			for _, line := range lines {
				_ = define(all, "hook", line)
			}
		}
	})
}
