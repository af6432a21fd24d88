/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package words

import (
	"testing"

	"github.com/mallard-dev/mallard/test/harness"
)

// Stash is the annotation in which an AddressableService keeps at a version what that has no field for.
const Stash = "conversion.samples.knative.dev/properties"

// Truncated is the label of a representation of an AddressableService whose stash was left out.
const Truncated = Stash + "-truncated"

// probe is an AddressableService of which the controller takes no notice, since it is of another class.
const probe = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: probe
  annotations: {samples.knative.dev/addressableservice.class: other}
spec: {ref: {apiVersion: v1, kind: Service, name: target}}
`

// StoreAt has the API server store AddressableServices at a version, and returns when it does. Their definition belongs to
// the environment, so that has to be the test's own.
func StoreAt(t testing.TB, env *harness.Env, version string) {
	t.Helper()
	env.StoreAt(t, version, "default", probe)
}
