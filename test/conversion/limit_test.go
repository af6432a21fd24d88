/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// truncated is the label of a representation of an AddressableService whose stash was left out.
const truncated = fixtures.Stash + "-truncated"

// crowded is an object of v1 with as many annotations as the API server accepts, and properties that no older version can show.
func crowded(t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	object := foreign("crowded")
	set(t, object, []any{map[string]any{"name": "a", "port": int64(1)}, map[string]any{"name": "b", "port": int64(2)}}, "spec", "ports")
	set(t, object, map[string]any{"alias": alias(namespace, "crowded")}, "spec", "publish")
	set(t, object, "/path", "spec", "path")
	annotations := object.GetAnnotations()
	used := len("filler")
	for key, value := range annotations {
		used += len(key) + len(value)
	}
	annotations["filler"] = strings.Repeat("x", validation.TotalAnnotationSizeLimitB-used)
	object.SetAnnotations(annotations)
	return object
}

// If it fails, lists of all others fail as well.
func TestConversion_AnnotationsFillTheLimit_NobodyElseIsAffected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for _, version := range old {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			mine, theirs := env.Namespace(t), env.Namespace(t)
			ref, older := at(hub, mine, "crowded"), at(version, mine, "crowded")
			create(t, env, mine, crowded(t, mine))
			create(t, env, theirs, foreign("subject"))
			before := env.Stored(t, ref)
			expectListedAndWatched(t, env, at(version, theirs, "subject"))
			expectRejected(t, env, older)
			if _, err := env.TryKubectl(t, "", "edit", kubectlName(older), older.Name, "--namespace", mine); err == nil || !strings.Contains(err.Error(), isLossy) {
				t.Errorf("kubectl edit: %v, want a rejection that contains %q", err, isLossy)
			}
			if after := env.Stored(t, ref); after != before {
				t.Error("a rejected write has changed the object")
			}

			// It becomes writable as soon as its annotations leave room.
			want := spec(t, env, ref)
			env.Patch(t, ref, `{"metadata": {"annotations": {"filler": "short"}}}`)
			env.Patch(t, older, `{"metadata": {"labels": {"written-at": "`+version+`"}}}`)
			expectEqual(t, "spec at v1 after the write", want, spec(t, env, ref))
			if text := env.Stored(t, ref); strings.Contains(text, truncated) || strings.Contains(text, fixtures.Stash) {
				t.Error("the label or the annotation is in etcd")
			}
		})
	}
}

// expectListedAndWatched expects that an object is the first event of a watch of its namespace, and in a list of all namespaces.
func expectListedAndWatched(t *testing.T, env *harness.Env, ref harness.Ref) {
	t.Helper()
	harness.Eventually(t, "the object is watched at "+ref.Resource.Version, func(ctx context.Context) error {
		events, err := client(env, ref).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		defer events.Stop()
		// The API server ends a watch with an error while its cache is behind.
		event := <-events.ResultChan()
		if event.Type != watch.Added || event.Object.(*unstructured.Unstructured).GetName() != ref.Name {
			return fmt.Errorf("the first event is %s of %v", event.Type, event.Object)
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), harness.Deadline)
	defer cancel()
	for _, revision := range []string{"", "0"} { // from etcd and from the API server's cache
		if _, err := env.Dynamic.Resource(ref.Resource).List(ctx, metav1.ListOptions{ResourceVersion: revision}); err != nil {
			t.Errorf("listing at %s: %v", ref.Resource.Version, err)
		}
	}
}

// isLossy is a part of the message that rejects a write through a representation that lacks something.
const isLossy = "this version cannot represent the object without losing data"

// expectRejected expects that no request writes through a representation that lacks something.
func expectRejected(t *testing.T, env *harness.Env, ref harness.Ref) {
	t.Helper()
	shown := get(t, env, ref)
	if shown.GetLabels()[truncated] == "" {
		t.Errorf("at %s the labels are %v, want %s", ref.Resource.Version, shown.GetLabels(), truncated)
	}
	const label = `{"metadata": {"labels": {"a": "b"}}}`
	patch := func(kind types.PatchType, text string, subresources ...string) error {
		_, err := client(env, ref).Patch(t.Context(), ref.Name, kind, []byte(text), metav1.PatchOptions{FieldManager: "test"}, subresources...)
		return err
	}
	applied := fmt.Sprintf(`{"apiVersion": "samples.knative.dev/%s", "kind": "AddressableService", "metadata": {"name": "%s", "labels": {"a": "b"}}}`,
		ref.Resource.Version, ref.Name)
	for what, err := range map[string]error{
		"a label":                  patch(types.MergePatchType, label),
		"less annotations":         patch(types.MergePatchType, `{"metadata": {"annotations": {"filler": null}}}`),
		"a removal of the label":   patch(types.MergePatchType, `{"metadata": {"labels": null, "annotations": {"filler": null}}}`),
		"a status":                 patch(types.MergePatchType, `{"status": {"observedGeneration": 1}}`, "status"),
		"an object without labels": tryUpdate(t, env, ref, func(o *unstructured.Unstructured) { o.SetLabels(nil) }),
		"what is applied":          patch(types.ApplyPatchType, applied),
	} {
		if err == nil || !strings.Contains(err.Error(), isLossy) {
			t.Errorf("writing %s at %s: %v, want a rejection that contains %q", what, ref.Resource.Version, err, isLossy)
		}
	}
}
