/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func TestReplaceForce_PublishedObject_IsRecreated(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	manifest := publishing(u.namespace)
	u.apply(t, manifest)
	before := u.ready(t)
	if _, err := u.input(t, manifest, "replace", "--force", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	after := u.ready(t)
	checkKept(t, after)
	if after.GetUID() == before.GetUID() || field(after, "status", "address", "url") != field(before, "status", "address", "url") {
		t.Errorf("before it was %v, and is %v", before, after)
	}
}

// TestCreate_LongGenerateName_BecomesReady has the longest prefix that a client may send. The API server shortens it.
func TestCreate_LongGenerateName_BecomesReady(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	out, err := u.input(t, strings.Replace(subject, "name: subject", "generateName: "+strings.Repeat("a", 253), 1), "create", "-f", "-", "--output=name")
	if err != nil {
		t.Fatal(err)
	}
	ref := u.ref()
	_, ref.Name, _ = strings.Cut(strings.TrimSpace(out), "/")
	checkKept(t, u.env.Await(t, ref, harness.Ready))
}

func TestEdit_Object_IsChanged(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, subject)
	u.ready(t)
	u.run(t, "edit", "asvc", "subject")
	got := u.ready(t)
	checkKept(t, got)
	if got := field(got, "status", "address", "url"); !strings.HasSuffix(got, "/edited") {
		t.Errorf("got URL %q, want one with the edited path", got)
	}
	// There is nothing left for the editor to do.
	if out := u.run(t, "edit", "asvc", "subject"); strings.Contains(out, "edited") {
		t.Errorf("without a change: got %q", out)
	}
}

func TestLabelAndAnnotate_Object_ChangeOnlyMetadata(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, subject)
	before := u.ready(t)
	u.run(t, "label", "asvc", "subject", "color=blue")
	u.run(t, "annotate", "asvc", "subject", "example.com/note=text")
	after := u.get(t)
	checkKept(t, after)
	if after.GetLabels()["color"] != "blue" || after.GetAnnotations()["example.com/note"] != "text" {
		t.Errorf("got labels %v and annotations %v", after.GetLabels(), after.GetAnnotations())
	}
	if before.GetGeneration() != after.GetGeneration() {
		t.Errorf("the generation went from %d to %d", before.GetGeneration(), after.GetGeneration())
	}
	if got := u.run(t, "get", "asvc", "-l", "color=blue", "-o", "name"); !strings.Contains(got, "/subject") {
		t.Errorf("by its label: got %q", got)
	}
	_, err := u.input(t, "", "annotate", "--overwrite", "asvc", "subject", samples.ClassAnnotationKey+"=other")
	checkSays(t, err, `the class cannot be changed from "mallard" to "other"`, samples.ClassAnnotationKey)
	u.run(t, "annotate", "asvc", "subject", samples.ClassAnnotationKey+"-")
	checkKept(t, u.get(t))
}

func TestDelete_PublishedObject_ReturnsOnceTheAliasIsDeleted(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"by name":              {"delete", "asvc", "subject"},
		"all of the namespace": {"delete", "asvc", "--all"},
		"in the foreground":    {"delete", "asvc", "subject", "--cascade=foreground"},
		"with no grace":        {"delete", "asvc", "subject", "--grace-period=0", "--force"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			// Each test has its own namespace, and so its own alias of that name.
			u.apply(t, publishing(u.namespace))
			u.ready(t)
			alias := func() error {
				_, err := u.env.Kube.CoreV1().Services("knative-samples-directory").Get(t.Context(), u.namespace, metav1.GetOptions{})
				return err
			}
			if err := alias(); err != nil {
				t.Fatal(err)
			}
			u.run(t, args...)
			checkGone(t, alias)
			u.env.Await(t, u.ref(), harness.Deleted)
		})
	}
}

// There is nothing to scale, and so no scale subresource, which the API server calls not found.
func TestScale_AddressableService_IsRejected(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.apply(t, subject)
	u.ready(t)
	u.env.Throughout(t, u.ref(), u.env.Unchanged(t, u.ref()), func() {
		_, err := u.input(t, "", "scale", "asvc/subject", "--replicas=2")
		checkSays(t, err, "NotFound", resource.GroupResource().String())
	})
}
