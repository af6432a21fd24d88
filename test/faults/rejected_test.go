//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// TestAddressableService_EachWriteRejected_ReportsItAndConverges lets the API server answer each write of the controller with an error for
// a while: conditions report it where they can be written, and afterwards the state converges.
func TestAddressableService_EachWriteRejected_ReportsItAndConverges(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	proxy := env.Proxy(t, "controller")
	cases := []struct {
		name  string
		match harness.Match
		code  int
		// during has the rejected write happen and waits until it shows.
		during func(t *testing.T, ns string)
		// after is the condition that must hold once writes are accepted again.
		after func(t *testing.T, ns string)
	}{{
		name:  "StatusUpdate",
		match: harness.Matching("update", "addressableservices/status"),
		code:  http.StatusInternalServerError,
		during: func(t *testing.T, ns string) {
			env.Apply(t, ns, manifests)
			awaitRejections(t, proxy, harness.Answer{Verb: "update", Group: samples.GroupName, Resource: "addressableservices", Subresource: "status", Code: http.StatusInternalServerError})
		},
		after: func(t *testing.T, ns string) { env.Await(t, it(ns), harness.Ready) },
	}, {
		name:  "StatusConflict",
		match: harness.Matching("update", "addressableservices/status"),
		code:  http.StatusConflict,
		during: func(t *testing.T, ns string) {
			env.Apply(t, ns, manifests)
			awaitRejections(t, proxy, harness.Answer{Verb: "update", Group: samples.GroupName, Resource: "addressableservices", Subresource: "status", Code: http.StatusConflict})
		},
		after: func(t *testing.T, ns string) { env.Await(t, it(ns), harness.Ready) },
	}, {
		name:  "AliasCreate",
		match: harness.Matching("create", "services"),
		code:  http.StatusInternalServerError,
		during: func(t *testing.T, ns string) {
			env.Apply(t, ns, manifests)
			env.Await(t, it(ns), harness.HasCondition("Published", "False", v1.ReasonPublishFailed))
		},
		after: func(t *testing.T, ns string) { env.Await(t, it(ns), harness.Ready) },
	}, {
		name:  "AliasUpdate",
		match: harness.Matching("update", "services"),
		code:  http.StatusForbidden,
		during: func(t *testing.T, ns string) {
			env.Apply(t, ns, manifests)
			env.Await(t, it(ns), harness.Ready)
			env.Patch(t, alias, `{"spec": {"externalName": "elsewhere.example.com"}}`)
			env.Await(t, it(ns), harness.HasCondition("Published", "False", v1.ReasonPublishFailed))
		},
		after: func(t *testing.T, ns string) { env.Await(t, it(ns), harness.Ready) },
	}, {
		name:  "AliasDelete",
		match: harness.Matching("delete", "services"),
		code:  http.StatusInternalServerError,
		during: func(t *testing.T, ns string) {
			env.Apply(t, ns, manifests)
			env.Await(t, it(ns), harness.Ready)
			env.Delete(t, it(ns))
			env.Await(t, it(ns), harness.HasCondition("Published", "False", v1.ReasonUnpublishFailed))
		},
		after: func(*testing.T, string) {},
	}, {
		name:  "FinalizerPatch",
		match: harness.Matching("patch", "addressableservices"),
		code:  http.StatusInternalServerError,
		during: func(t *testing.T, ns string) {
			env.Apply(t, ns, manifests)
			env.Await(t, it(ns), harness.Ready)
			env.Delete(t, it(ns))
			awaitRejections(t, proxy, harness.Answer{Verb: "patch", Group: samples.GroupName, Resource: "addressableservices", Code: http.StatusInternalServerError})
			env.Await(t, it(ns), harness.Exists)
		},
		after: func(*testing.T, string) {},
	}, {
		name:  "EventCreate",
		match: harness.Matching("create", "events"),
		code:  http.StatusForbidden,
		during: func(t *testing.T, ns string) {
			refs := env.Apply(t, ns, manifests)
			env.Await(t, it(ns), harness.Ready)
			env.Delete(t, refs[0])
			env.Await(t, it(ns), harness.HasCondition("Ready", "False", v1.ReasonTargetNotFound))
		},
		after: func(t *testing.T, ns string) {
			env.Apply(t, ns, manifests)
			env.Await(t, it(ns), harness.Ready)
		},
	}}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			ns := env.Namespace(t)
			undo := proxy.Fail(tc.match, tc.code)
			tc.during(t, ns)
			undo()
			tc.after(t, ns)
			if o := env.Await(t, it(ns), func(*unstructured.Unstructured) error { return nil }); o != nil && o.GetDeletionTimestamp() == nil {
				env.Delete(t, it(ns))
			}
			env.Await(t, it(ns), harness.Deleted)
			noOrphans(t, env)
		})
	}
}

func it(namespace string) harness.Ref {
	return harness.Ref{Resource: v1.SchemeGroupVersion.WithResource("addressableservices"), Namespace: namespace, Name: "it"}
}

// awaitRejections waits until the proxy has given an answer at least twice, so that
// a retry was rejected as well.
func awaitRejections(t *testing.T, proxy *harness.Proxy, answer harness.Answer) {
	t.Helper()
	before := proxy.Requests()[answer]
	harness.Eventually(t, "two rejections", func(context.Context) error {
		if n := proxy.Requests()[answer] - before; n < 2 {
			return fmt.Errorf("there were %d", n)
		}
		return nil
	})
}
