/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestApply_SameManifest_ChangesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags        []string
		first, again string
	}{
		"client-side": {nil, "created", "unchanged"},
		"server-side": {[]string{"--server-side"}, "serverside-applied", "serverside-applied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			apply := func(want string) {
				if got := u.apply(t, subject, tc.flags...); got != "addressableservice.samples.knative.dev/subject "+want {
					t.Errorf("got %q, want that it is %s", got, want)
				}
			}
			apply(tc.first)
			u.ready(t)
			u.env.Throughout(t, u.ref(), u.env.Unchanged(t, u.ref()), func() {
				apply(tc.again)
				apply(tc.again)
			})
			checkKept(t, u.get(t))
		})
	}
}

func TestApply_ChangedField_ChangesOnlyThat(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"client-side": nil, "server-side": {"--server-side"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.apply(t, subject, flags...)
			want := u.ready(t).DeepCopy()
			u.apply(t, strings.Replace(subject, "/old", "/new", 1), flags...)
			got := u.ready(t).DeepCopy()
			if got := field(got, "status", "address", "url"); !strings.HasSuffix(got, "/new") {
				t.Errorf("got URL %q, want one with the new path", got)
			}
			checkKept(t, got)
			want.Object["spec"].(map[string]any)["path"] = "/new"
			if diff := cmp.Diff(want.Object["spec"], got.Object["spec"]); diff != "" {
				t.Errorf("the spec (-want, +got):\n%s", diff)
			}
		})
	}
}

func TestApply_FieldRemoved_IsRemoved(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"client-side": nil, "server-side": {"--server-side"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.apply(t, subject, flags...)
			u.apply(t, strings.Replace(subject, "  path: /old\n", "", 1), flags...)
			if got := field(u.ready(t), "spec", "path"); got != "" {
				t.Errorf("the path is still %q", got)
			}
			checkKept(t, u.get(t))
		})
	}
}

func TestServerSideApply_AfterClientSideApply_Succeeds(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, subject)
	u.ready(t)
	u.apply(t, subject, "--server-side")
	checkKept(t, u.get(t))
	u.apply(t, strings.Replace(subject, "  path: /old\n", "", 1), "--server-side")
	if got := field(u.ready(t), "spec", "path"); got != "" {
		t.Errorf("the path is still %q", got)
	}
	checkKept(t, u.get(t))
}

func TestApply_UnknownField_IsRejected(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"client-side": nil, "server-side": {"--server-side"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			args := append([]string{"apply", "-f", "-"}, flags...)
			_, err := u.input(t, strings.Replace(subject, "path:", "pth:", 1), args...)
			checkSays(t, err, "pth")
			_, err = u.input(t, strings.Replace(subject, "/old", "old", 1), args...)
			checkSays(t, err, "spec.path", "must start with a slash")
			u.env.Await(t, u.ref(), harness.Deleted)
		})
	}
}

func TestDiff_Change_IsShown(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"client-side": nil, "server-side": {"--server-side"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.apply(t, subject, flags...)
			u.ready(t)
			args := append([]string{"diff", "-f", "-"}, flags...)
			// With nothing to change it ends well.
			if out, err := u.input(t, subject, args...); err != nil || out != "" {
				t.Errorf("with the same manifest: got error %v and\n%s", err, out)
			}
			out, err := u.input(t, strings.Replace(subject, "/old", "/new", 1), args...)
			checkSays(t, err, "exit status 1")
			want := []string{"-  generation: 1", "-  path: /old", "+  generation: 2", "+  path: /new"}
			if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out), "\n"), cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("with another path (-want, +got):\n%s", diff)
			}
			if got := field(u.get(t), "spec", "path"); got != "/old" {
				t.Errorf("kubectl diff has changed the path to %q", got)
			}
		})
	}
}
