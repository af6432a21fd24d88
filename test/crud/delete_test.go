/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestT14_EnsureDeleted_FinalizerOfOthers_IsDeleting(t *testing.T) {
	s := newScene(t)
	s.run(crud.EnsureDeleted(s.ref("ConfigMap", "a")), crud.AlreadyAbsent)
	s.expectSent(1, 0)
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	s.patch(configMaps, "a", `{"metadata":{"finalizers":["example.com/theirs"]}}`)
	s.sent()
	for range 2 {
		result := s.run(crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a")), crud.Deleting)
		if !slices.Equal(result.Finalizers, []string{"example.com/theirs"}) {
			t.Errorf("the finalizers are %q", result.Finalizers)
		}
	}
	if _, writes := s.sent(); writes != 1 {
		t.Errorf("sent %d deletions, want 1", writes)
	}
	op := crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a"))
	op.Wait = harness.Deadline
	done := s.beginWait(op)
	s.patch(configMaps, "a", `{"metadata":{"finalizers":null}}`)
	if after := <-done; after.err != nil || after.result.Outcome != crud.Deleted {
		t.Errorf("after the finalizer was removed: %v, %v", after.result.Outcome, after.err)
	}
}

func TestT15_EnsureDeleted_CreatedAgainDuringTheWait_IsDeleted(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	here := harness.InNamespace(s.ns)
	op := crud.EnsureDeleted(s.ref("configmaps", "a"))
	op.Wait = harness.Deadline

	// Another client is faster than the deletion.
	held, done := s.beginHeld(op, harness.Matching("delete", "configmaps"))
	second := s.recreate("a")
	held.Release()
	if after := <-done; after.err != nil || after.result.Outcome != crud.Deleted {
		t.Errorf("another client deleted and created the object: %v, %v", after.result.Outcome, after.err)
	}
	if uid := s.get(configMaps, "a").GetUID(); uid != second {
		t.Errorf("the new object was deleted")
	}

	// Another client creates the name while the operation waits.
	s.patch(configMaps, "a", `{"metadata":{"finalizers":["example.com/theirs"]}}`)
	done = s.begin(op)
	harness.Eventually(t, "the object is being deleted", func(context.Context) error {
		if s.get(configMaps, "a").GetDeletionTimestamp() == nil {
			return errors.New("it is not")
		}
		return nil
	})
	held = s.proxy.Hold(harness.Matching("get", "configmaps").And(here))
	// The operation waits for an event, and a read that began before the hold may have seen the one of an earlier change.
	harness.Eventually(t, "a read of the operation is held", func(context.Context) error {
		s.patch(configMaps, "a", fmt.Sprintf(`{"data":{"changed":"%d"}}`, time.Now().UnixNano()))
		select {
		case <-held.Caught():
			return nil
		default:
			return errors.New("it is not")
		}
	})
	s.patch(configMaps, "a", `{"metadata":{"finalizers":null}}`)
	harness.Eventually(t, "the object is deleted", func(ctx context.Context) error {
		_, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Create(ctx, s.configMap("a", nil), metav1.CreateOptions{})
		return err
	})
	third := s.get(configMaps, "a").GetUID()
	held.Release()
	if after := <-done; after.err != nil || after.result.Outcome != crud.Deleted {
		t.Errorf("another client created the object during the wait: %v, %v", after.result.Outcome, after.err)
	}
	if uid := s.get(configMaps, "a").GetUID(); uid != third {
		t.Errorf("the new object was deleted")
	}
}

// remove deletes a ConfigMap as another client.
func (s *scene) remove(name string) {
	s.Helper()
	if err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
}

// recreate deletes and creates a ConfigMap as another client, and returns its new UID.
func (s *scene) recreate(name string) types.UID {
	s.Helper()
	s.remove(name)
	created, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Create(s.Context(), s.configMap(name, nil), metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return created.UID
}

func TestT16_EnsureDeleted_Precondition_DeletesNothingElse(t *testing.T) {
	s := newScene(t)
	created := s.run(crud.Create(s.configMap("a", nil)), crud.Created).Object
	other, uid, version := types.UID("another"), created.GetUID(), "1"
	for name, preconditions := range map[string]metav1.Preconditions{
		"UID": {UID: &other}, "resourceVersion": {UID: &uid, ResourceVersion: &version},
	} {
		for _, op := range []crud.Operation{
			crud.EnsureDeleted(s.ref("ConfigMap", "a")), crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a")), crud.EnsureDeletedOrphaning(s.ref("ConfigMap", "a")),
		} {
			op.Preconditions = preconditions
			s.sent()
			s.fails(op, crud.Precondition)
			if _, writes := s.sent(); writes > 1 {
				t.Errorf("%s: sent %d deletions", name, writes)
			}
		}
	}
	if s.get(configMaps, "a").GetDeletionTimestamp() != nil {
		t.Error("the object is being deleted")
	}
	op := crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a"))
	version = created.GetResourceVersion()
	op.Preconditions = metav1.Preconditions{UID: &uid, ResourceVersion: &version}
	s.run(op, crud.Deleted)
}

func TestT17_EnsureDeleted_Policies_DecideAboutOwnedObjects(t *testing.T) {
	s := newScene(t)
	family := func(name string) {
		owner := s.run(crud.Create(s.configMap(name, nil)), crud.Created).Object
		child := s.configMap(name+"-child", nil)
		child.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
		child.Finalizers = []string{"example.com/theirs"}
		s.run(crud.Create(child), crud.Created)
		t.Cleanup(func() { s.tryRelease(name + "-child") })
	}
	family("background")
	s.run(crud.EnsureDeletedInBackground(s.ref("ConfigMap", "background")), crud.Deleted)
	harness.Eventually(t, "the object that it owned is deleted", func(context.Context) error {
		if s.get(configMaps, "background-child").GetDeletionTimestamp() == nil {
			return errors.New("it is not")
		}
		return nil
	})

	family("foreground")
	op := crud.EnsureDeleted(s.ref("ConfigMap", "foreground"))
	if result := s.run(op, crud.Deleting); !slices.Contains(result.Finalizers, metav1.FinalizerDeleteDependents) {
		t.Errorf("the finalizers are %q", result.Finalizers)
	}
	op.Wait = harness.Deadline
	done := s.beginWait(op)
	s.tryRelease("foreground-child")
	if after := <-done; after.err != nil || after.result.Outcome != crud.Deleted {
		t.Errorf("after the deletion of the owned object: %v, %v", after.result.Outcome, after.err)
	}

	family("orphan")
	op = crud.EnsureDeletedOrphaning(s.ref("ConfigMap", "orphan"))
	op.Wait = harness.Deadline
	s.run(op, crud.Deleted)
	if child := s.get(configMaps, "orphan-child"); len(child.GetOwnerReferences()) != 0 || child.GetDeletionTimestamp() != nil {
		t.Errorf("the owned object has the owners %v and is deleted at %v", child.GetOwnerReferences(), child.GetDeletionTimestamp())
	}

	family("switched")
	s.patch(configMaps, "switched", `{"metadata":{"finalizers":["example.com/theirs"]}}`)
	t.Cleanup(func() { s.tryRelease("switched") })
	s.run(crud.EnsureDeletedInBackground(s.ref("ConfigMap", "switched")), crud.Deleting)
	result := s.run(crud.EnsureDeleted(s.ref("ConfigMap", "switched")), crud.Deleting)
	if !slices.Contains(result.Finalizers, metav1.FinalizerDeleteDependents) {
		t.Errorf("after another policy the finalizers are %q", result.Finalizers)
	}
}

// beginWait runs a deletion in another goroutine, and returns when it has found the object and waits.
func (s *scene) beginWait(op crud.Operation) <-chan ended {
	s.Helper()
	reads := s.proxy.Count(harness.Matching("get", "configmaps").And(harness.InNamespace(s.ns)))
	done := s.begin(op)
	harness.Eventually(s.T, "the operation waits", func(context.Context) error {
		if n := reads(); n < 2 {
			return fmt.Errorf("it has read the object %d times", n)
		}
		return nil
	})
	return done
}

// tryRelease removes the finalizers of a ConfigMap that might not exist.
func (s *scene) tryRelease(name string) {
	s.Helper()
	_, err := s.env.Dynamic.Resource(configMaps).Namespace(s.ns).Patch(context.WithoutCancel(s.Context()), name, types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Error(err)
	}
}

func TestT18_EnsureDeleted_StatusPatch_IsRejected(t *testing.T) {
	s := newScene(t)
	s.run(crud.Create(s.object(`{apiVersion: `+group+`/v1, kind: Widget, metadata: {name: a}}`)), crud.Created)
	s.sent()
	for _, op := range []crud.Operation{crud.EnsureDeleted(s.ref("Widget", "a")), crud.CreateOrUpdate(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "a", "namespace": s.ns},
	}})} {
		op.StatusPatch = true
		s.fails(op, crud.Malformed)
	}
	s.expectSent(0, 0)
	s.get(widgets, "a")
}

func TestEnsureDeleted_RequestFails_IsTriedAgainOrReported(t *testing.T) {
	s := newScene(t, quick)
	s.run(crud.Create(s.configMap("a", nil)), crud.Created)
	here := harness.InNamespace(s.ns)
	undo := s.proxy.Fail(harness.Matching("delete", "configmaps").And(here), http.StatusForbidden)
	s.fails(crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a")), crud.Forbidden)
	undo()
	// The response is lost, and the object is deleted.
	undo = s.proxy.Lose(harness.Matching("delete", "configmaps").And(here))
	result, err := s.client.Run(t.Context(), crud.EnsureDeletedInBackground(s.ref("ConfigMap", "a")))
	if err != nil || result.Outcome != crud.Deleted && result.Outcome != crud.AlreadyAbsent {
		t.Errorf("the answer to the deletion was lost: %v, %v", result.Outcome, err)
	}
	undo()
}
