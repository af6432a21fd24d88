/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestAddressableService_ServiceBeforeReference_Resolves(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("target", onePort))
	as := env.Apply(t, ns, object("it", toService("target")))[0]
	env.Await(t, as, harness.Ready, hasURLs(local("target", ns)))
}

func TestAddressableService_ReferenceBeforeService_Resolves(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	as := env.Apply(t, ns, object("it", toService("target")))[0]
	env.Await(t, as, notReady(v1.ReasonTargetNotFound))

	// The resync period is ten hours, so only the watch can deliver the Service in time.
	env.Apply(t, ns, service("target", onePort))
	env.Await(t, as, harness.Ready, hasURLs(local("target", ns)))
}

func TestAddressableService_NotReady_HasNoAddress(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	target := env.Apply(t, ns, service("target", onePort))[0]
	as := env.Apply(t, ns, object("it", toService("target")))[0]
	env.Await(t, as, harness.Ready)

	consistent := func(o *unstructured.Unstructured) error {
		if harness.Ready(o) == nil {
			return hasURLs(local("target", ns))(o)
		}
		return hasURLs()(o)
	}
	env.Throughout(t, as, consistent, func() {
		for range 5 {
			env.Delete(t, target)
			env.Await(t, as, notReady(v1.ReasonTargetNotFound))
			env.Apply(t, ns, service("target", onePort))
			env.Await(t, as, harness.Ready)
		}
	})
}

func TestAddressableService_StatusWrittenByAUser_IsCorrected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("target", onePort))
	as := env.Apply(t, ns, object("it", toService("target")))[0]
	env.Await(t, as, harness.Ready, hasURLs(local("target", ns)))
	env.Patch(t, as, `{"status": {"address": {"url": "http://elsewhere.example.com"}, "addresses": null, "conditions": []}}`, "status")
	env.Await(t, as, harness.Ready, hasURLs(local("target", ns)))
}
