/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// toObject is a spec that refers to another AddressableService.
func toObject(name string) string { return to("samples.knative.dev/v1", "AddressableService", name) }

func TestAddressableService_ReferenceToAnother_IsFollowed(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	second := env.Apply(t, ns, object("second", toObject("first")+"\npath: /b"))[0]
	env.Await(t, second, notReady(v1.ReasonTargetNotFound))

	first := env.Apply(t, ns, object("first", toService("target")+"\npath: /a"))[0]
	env.Await(t, second, notReady(v1.ReasonTargetHasNoAddress))

	target := env.Apply(t, ns, service("target", onePort))[0]
	env.Await(t, second, harness.Ready, hasURLs(local("target", ns)+"/a/b"))

	env.Delete(t, target)
	env.Await(t, second, notReady(v1.ReasonTargetHasNoAddress))

	env.Delete(t, first)
	env.Await(t, second, notReady(v1.ReasonTargetNotFound))
}

func TestAddressableService_CycleOfTwo_ConvergesAndIsReported(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("target", onePort))
	// Both have an address before the cycle closes, which must not go round in it.
	refs := env.Apply(t, ns, object("a", toService("target"))+and+object("b", toObject("a")))
	env.Await(t, refs[1], harness.Ready)
	env.Apply(t, ns, object("a", toObject("b")))
	for _, ref := range refs {
		env.Await(t, ref, notReady(v1.ReasonReferenceCycle), says(" -> "))
	}

	// Converged means that no client writes any more, which the audit log shows.
	mark := env.Mark(t)
	other := env.Apply(t, ns, object("other", toService("target")))[0]
	env.Await(t, other, harness.Ready)
	// The event of the last change is sent after the change, and might not have been delivered yet.
	inCycle := func(e harness.AuditEntry) bool {
		return e.Namespace == ns && e.Name != "other" && e.Resource != "events"
	}
	if writes := mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), inCycle); len(writes) > 0 {
		t.Errorf("the cycle is still written to: %v", writes)
	}

	env.Apply(t, ns, object("a", toService("target")))
	for _, ref := range refs {
		env.Await(t, ref, harness.Ready, hasURLs(local("target", ns)))
	}
}

func TestAddressableService_OwnKindAtAnUnservedVersion_IsNotFollowed(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, service("target", onePort)+and+object("it", toService("target")))
	as := env.Apply(t, ns, object("other", to("samples.knative.dev/v9", "AddressableService", "it")))[0]
	env.Await(t, as, notReady(v1.ReasonTargetKindNotFound), says("does not serve kind AddressableService at samples.knative.dev/v9"))
}
