/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// foreign is an object of v1 that only the test writes to, for it is of another class.
func foreign(name string, annotations map[string]string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "target"},
	}}}
	object.SetAPIVersion("samples.knative.dev/v1")
	object.SetKind("AddressableService")
	object.SetName(name)
	all := map[string]string{"samples.knative.dev/addressableservice.class": "other"}
	maps.Copy(all, annotations)
	object.SetAnnotations(all)
	return object
}

func create(t *testing.T, env *harness.Env, namespace string, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	made, err := client(env, at(object.GroupVersionKind().Version, namespace, "")).Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating %s: %v", object.GetName(), err)
	}
	return made
}

// No webhook validates a status, so it can contain more than an older version can represent.
func TestRepresentation_TooLarge_IsReadTruncatedAndNotWritten(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	create(t, env, ns, foreign("subject", nil))
	certificates := strings.Repeat("x", conversion.HardLimit)
	writeStatus := func(version, status string) error {
		_, err := client(env, at(version, ns, "subject")).Patch(t.Context(), "subject", types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
		return err
	}
	if err := writeStatus(hub, `{"status": {"addresses": [{"url": "http://a", "CACerts": "`+certificates+`"}]}}`); err != nil {
		t.Fatal(err)
	}
	for _, version := range old {
		ref := at(version, ns, "subject")
		shown := get(t, env, ref)
		if need, err := strconv.Atoi(shown.GetLabels()[fixtures.Truncated]); err != nil || need <= conversion.HardLimit || shown.GetAnnotations()[fixtures.Stash] != "" {
			t.Errorf("at %s the label is %q and the annotation %.40q, want how many bytes would have been needed, and no annotation",
				version, shown.GetLabels()[fixtures.Truncated], shown.GetAnnotations()[fixtures.Stash])
		}
		if _, err := client(env, at(version, ns, "")).List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("listing at %s: %v", version, err)
		}
		for what, err := range map[string]error{
			"a label":  tryUpdate(t, env, ref, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) }),
			"a status": writeStatus(version, `{"status": {"observedGeneration": 1}}`),
		} {
			const want = "this version cannot represent the object without losing data"
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strconv.Itoa(conversion.HardLimit)) {
				t.Errorf("writing %s at %s: %v, want a rejection that says %q and the limit", what, version, err, want)
			}
		}
	}
	update(t, env, at(hub, ns, "subject"), func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) })
	addresses, _, err := unstructured.NestedSlice(get(t, env, at(hub, ns, "subject")).Object, "status", "addresses")
	if err != nil || len(addresses) != 1 || addresses[0].(map[string]any)["CACerts"] != certificates {
		t.Errorf("the addresses at v1 are other than they were: %v", err)
	}
	// An object that cannot be shown can be deleted at any version.
	env.Delete(t, at("v1alpha1", ns, "subject"))
	env.Await(t, at(hub, ns, "subject"), harness.Deleted)
}

// Fields that a client adds at v1 are stashed at older versions, in addition to existing entries. The client gets the error.
func TestRepresentation_WouldBeTooLarge_WriteAtV1IsRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	// There is room for a path, and for no more.
	const (
		beginning, end = `{"e":{"v99/later":{"d":"`, `"}},"f":1}`
		room           = 200
	)
	stash := beginning + strings.Repeat("x", conversion.HardLimit-room-len(beginning)-len(end)) + end
	create(t, env, ns, foreign("subject", map[string]string{fixtures.Stash: stash}))
	ref := at(hub, ns, "subject")
	setPath := func(length int) error {
		return tryUpdate(t, env, ref, func(o *unstructured.Unstructured) { set(t, o, "/"+strings.Repeat("p", length-1), "spec", "path") })
	}
	if err := setPath(room / 4); err != nil {
		t.Errorf("a short path is rejected: %v", err)
	}
	before := env.Stored(t, ref)
	err := setPath(room)
	for _, want := range []string{"v1alpha1 cannot represent the object", "other versions need 65", fmt.Sprintf("at most %d bytes", conversion.HardLimit), "metadata.annotations"} {
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("a long path: %v, want a rejection that says %q", err, want)
		}
	}
	// v1beta1 has a field for the path.
	if err != nil && strings.Contains(err.Error(), "v1beta1") {
		t.Errorf("a long path: %v, want nothing said of v1beta1", err)
	}
	if diff := cmp.Diff(before, env.Stored(t, ref)); diff != "" {
		t.Errorf("the rejected write has changed the object (-before +after):\n%s", diff)
	}
}
