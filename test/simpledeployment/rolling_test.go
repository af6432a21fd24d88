/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestSimpleDeployment_ImageChanges_RollsWithMaxSurgeOne(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 4)
	throughout(t, env, ns, within(uid(t, env, ref), 5, 4), func() {
		change(t, env, ref, `{"image": "two"}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "two", 4)
	// Back, and forth again before the rollout ends.
	throughout(t, env, ns, within(uid(t, env, ref), 5, 4), func() {
		change(t, env, ref, `{"image": "one"}`)
		env.Await(t, ref, harness.HasCondition("UpToDate", "Unknown", "RollingOut"))
		change(t, env, ref, `{"image": "three"}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "three", 4)
}

func TestSimpleDeployment_ScaledDuringARollout_Converges(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 3)
	throughout(t, env, ns, within(uid(t, env, ref), 7, 3), func() {
		change(t, env, ref, `{"image": "two"}`)
		env.Await(t, ref, harness.HasCondition("UpToDate", "Unknown", "RollingOut"))
		change(t, env, ref, `{"replicas": 6}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "two", 6)
	throughout(t, env, ns, within(uid(t, env, ref), 7, 2), func() {
		change(t, env, ref, `{"image": "three"}`)
		env.Await(t, ref, harness.HasCondition("UpToDate", "Unknown", "RollingOut"))
		change(t, env, ref, `{"replicas": 2}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "three", 2)
}

func TestSimpleDeployment_ReplicasNamesAndImages_AreRejectedOrRun(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for name, tc := range map[string]struct{ manifest, want string }{
		"replicas -1":       {object("it", "one", -1), "spec.replicas"},
		"replicas 2^31":     {object("it", "one", 1<<31), "spec.replicas"},
		"replicas 1001":     {object("it", "one", 1001), "spec.replicas"},
		"empty image":       {object("it", "", 1), "spec.image"},
		"image with blanks": {object("it", "a b", 1), "spec.image"},
		"name of 254":       {object(strings.Repeat("a", 254), "one", 1), "metadata.name"},
		"name of a variable": {
			strings.Replace(object("it", "one", 1), "replicas: 1", "replicas: 1, configurable: {env: [{name: 1A}]}", 1),
			"spec.configurable.env[0].name",
		},
	} {
		if _, err := env.TryApply(t, env.Namespace(t), tc.manifest); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one that names %s", name, err, tc.want)
		}
	}
	ns := env.Namespace(t)
	for _, name := range []string{strings.Repeat("a", 253), strings.Repeat("a.", 126) + "b", strings.Repeat("a", 252) + "b", "1.2.3"} {
		ref := env.Apply(t, ns, object(name, "one", 2))[0]
		exactly(t, env, ref, "one", 2)
	}
	zero := env.Apply(t, ns, object("zero", "one", 0))[0]
	exactly(t, env, zero, "one", 0)
	change(t, env, zero, `{"replicas": 2}`)
	exactly(t, env, zero, "one", 2)
	change(t, env, zero, `{"replicas": 0}`)
	exactly(t, env, zero, "one", 0)
	// Left out it is one.
	ref := env.Apply(t, ns, strings.Replace(object("it", "one", 1), ", replicas: 1", "", 1))[0]
	exactly(t, env, ref, "one", 1)
}

func TestSimpleDeployment_Deleted_PodsAreDeleted(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 1)
	pod := podRef(ns, onePod(t, env, ref))
	env.Delete(t, ref)
	env.Await(t, ref, harness.Deleted)
	env.Await(t, pod, harness.Deleted)
}
