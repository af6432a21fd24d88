/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// stash is the annotation in which an older version keeps what it cannot show.
const stash = "conversion.samples.knative.dev/properties"

// stashed gives an object entries of its spec's, as JSON.
func stashed(entries string) change {
	return set("metadata.annotations", map[string]any{stash: `{"f":1,"c":{"spec":{"e":{` + entries + `}}}}`})
}

// An object written at an older version is validated with the rules of v1, and the rejection names fields of v1.
func TestValidation_EditAtAnOlderVersion_FollowsTheRulesOfV1(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	create(t, env, object(ns, named("subject"), set("spec.ports", []any{port("http", 80), port("https", 443)})))
	before := get(t, hub, env, ns, "subject")

	_, err := tryPatch(t, "v1beta1", env, ns, "subject", `{spec: {port: 443}}`)
	checkDenied(t, err, "invalid value: 443: spec.ports[1].port\nduplicates ports[0]; values must be unique")
	after := get(t, hub, env, ns, "subject")
	if diff := gocmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" {
		t.Errorf("the rejected edit has changed the spec (-before, +after):\n%s", diff)
	}
	if _, err := tryPatch(t, "v1beta1", env, ns, "subject", `{spec: {port: 444}}`); err != nil {
		t.Errorf("the number that no other port has is rejected: %v", err)
	}
}

// brought are stashes that a new object brings along, as a copy of another's manifest does.
var brought = map[string]struct {
	version, entries, says string
	// field and want are of the spec at v1, if it is accepted.
	field string
	want  any
}{
	"a port of v1beta1 beyond the last":          {"v1alpha1", `"v1beta1/port":{"d":99999}`, "expected 1 <= 99999 <= 65535: spec.ports[0].port", "", nil},
	"the last port of v1beta1":                   {"v1alpha1", `"v1beta1/port":{"d":65535}`, "", "ports", []any{port("port", 65535)}},
	"a port of v1 beyond the last":               {"v1beta1", `"v1/ports":{"d":[{"name":"a"},{"name":"b","port":99999}]}`, "expected 1 <= 99999 <= 65535: spec.ports[1].port", "", nil},
	"a port of v1 beyond the last, at v1alpha1":  {"v1alpha1", `"v1/ports":{"d":[{"name":"a"},{"name":"b","port":99999}]}`, "expected 1 <= 99999 <= 65535: spec.ports[1].port", "", nil},
	"the last port of v1":                        {"v1beta1", `"v1/ports":{"d":[{"name":"a"},{"name":"b","port":65535}]}`, "", "ports", []any{port("a", 80), port("b", 65535)}},
	"a port of v1 that is taken":                 {"v1beta1", `"v1/ports":{"d":[{"name":"a"},{"name":"b","port":80}]}`, "invalid value: 80: spec.ports[1].port\nduplicates ports[0]; values must be unique", "", nil},
	"a path that leads elsewhere":                {"v1alpha1", `"v1beta1/path":{"d":"/a/../b"}`, "invalid value: /a/../b: spec.path\npath must not hold the segments . or ..", "", nil},
	"a path":                                     {"v1alpha1", `"v1beta1/path":{"d":"/a/b"}`, "", "path", "/a/b"},
	"an exposure of v1beta1 that is out of date": {hub, `"v1beta1/exposure":{"b":"of another visibility","d":"Internal"}`, "", "visibility", "Public"},
	"an alias in capitals":                       {"v1beta1", `"v1/publish":{"d":{"alias":"A"}}`, "invalid value: A: spec.publish.alias\nmust match ^[a-z]([-a-z0-9]*[a-z0-9])?$", "", nil},
	"an alias":                                   {"v1beta1", `"v1/publish":{"d":{"alias":"a"}}`, "", "publish", map[string]any{"alias": "a"}},
}

// The schema looks at no annotation, and at nothing that conversion makes of it.
func TestValidation_NewObjectWithAStash_IsWarnedAndValidated(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for name, c := range brought {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, warnings := warned(t, env)
			created, err := client.Resource(at(c.version)).Namespace(ns).Create(t.Context(), objectAt(c.version, ns, stashed(c.entries)), metav1.CreateOptions{})
			// The API server makes a warning of each line.
			want := append(slices.Clone(deprecations[c.version]), "the annotation sets properties of other versions: metadata.annotations",
				stash+": it belongs to the object that this manifest was copied from; leave it out to begin without them")
			if got := warnings.take(); !slices.Equal(got, want) {
				t.Errorf("got warnings %q, want %q", got, want)
			}
			if c.says != "" {
				checkDenied(t, err, c.says)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			spec := as[map[string]any](get(t, hub, env, ns, created.GetName()).Object["spec"])
			if diff := gocmp.Diff(c.want, spec[c.field]); diff != "" {
				t.Errorf("%s at v1 (-want, +got):\n%s", c.field, diff)
			}
		})
	}
}

// An empty name stands for a target that no name can stand for.
func TestValidation_TargetWithoutANameAtV1alpha1_CanBeEditedThere(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	create(t, env, object(ns, named("subject")))
	before := get(t, hub, env, ns, "subject")
	for _, patch := range []string{`{metadata: {labels: {touched: "true"}}}`, `{spec: {serviceName: ""}}`} {
		patched, err := tryPatch(t, "v1alpha1", env, ns, "subject", patch)
		if err != nil {
			t.Fatalf("%s: %v", patch, err)
		}
		if diff := gocmp.Diff(map[string]any{"serviceName": ""}, patched.Object["spec"]); diff != "" {
			t.Errorf("%s: spec (-want, +got):\n%s", patch, diff)
		}
	}
	after := get(t, hub, env, ns, "subject")
	if diff := gocmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" {
		t.Errorf("spec at v1 (-before, +after):\n%s", diff)
	}
	if _, err := tryPatch(t, "v1alpha1", env, ns, "subject", `{spec: {serviceName: other}}`); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"apiVersion": "v1", "kind": "Service", "name": "other"}
	if diff := gocmp.Diff(want, as[map[string]any](get(t, hub, env, ns, "subject").Object["spec"])["ref"]); diff != "" {
		t.Errorf("target at v1 (-want, +got):\n%s", diff)
	}
}
