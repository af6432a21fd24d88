/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestAddressBinding_OlderOneCannotBind_YoungerBindsUntilItCan has two bindings of one variable. The older one names a version that the cluster
// does not serve, or an AddressableService that no operator reconciles, until a user corrects it.
func TestAddressBinding_OlderOneCannotBind_YoungerBindsUntilItCan(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	const bye = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: bye
  annotations: {samples.knative.dev/addressableservice.class: other}
spec:
  ref: {apiVersion: v1, kind: Service, name: none}
`
	for name, tc := range map[string]struct {
		version, address string
		during           harness.Condition
		correction       string
	}{
		"VersionNotServed": {
			"apps/v1beta1", "hello", notBound("SubjectKindNotFound"), `{"spec": {"subject": {"apiVersion": "apps/v1"}, "address": {"name": "bye"}}}`,
		},
		"AddressUnknown": {"apps/v1", "bye", harness.HasCondition("AddressResolved", "Unknown", "AddressNotReady"), `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, env)
			unresolved := w.Apply(t, w.ns, bye)[0]
			d := w.Apply(t, w.ns, deployment("d", "bound: to-it"))[0]
			// The name of the older one also sorts first, for they may be of the same second.
			older := w.Apply(t, w.ns, fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: a}
spec: {subject: {apiVersion: %s, kind: Deployment, selector: {matchLabels: {bound: to-it}}}, address: {name: %s}}
`, tc.version, tc.address))[0]
			w.Await(t, older, tc.during)
			younger := w.bind(t, "b", byLabel)
			w.Await(t, younger, harness.Ready, counts(1, 1))
			w.Await(t, d, has(address), isMarked(true))
			// The webhook decides alike.
			w.AwaitAdmission(t, w.ns, deployment("late", "bound: to-it"), has(address), isMarked(true))

			w.Patch(t, older, tc.correction)
			w.Patch(t, unresolved, fmt.Sprintf(`{"status": {"address": {"url": %q}}}`, otherAddress), "status")
			w.Await(t, d, has(otherAddress))
			w.Await(t, older, harness.Ready)
			w.Await(t, younger, notBound("VariableTaken"))
			w.AwaitAdmission(t, w.ns, deployment("late", "bound: to-it"), has(otherAddress), isMarked(true))
		})
	}
}
