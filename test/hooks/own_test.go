/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
)

// deletes returns a hook that, in its first run, deletes ConfigMaps and replaces an immutable one, and the journal of its runs.
func (s *scene) deletes(settings hook.Settings, names ...string) (*hook.Hook, *journal) {
	j := &journal{}
	return s.hook("deletes", hook.Bindings{Kubernetes: []hook.Kubernetes{s.configMaps()}, Settings: settings},
		func(_ context.Context, run *hook.Run) error {
			j.addf("%s", describe(run.Contexts))
			if len(j.all()) > 1 {
				return nil
			}
			for _, name := range names {
				run.Add(crud.EnsureDeletedInBackground(crud.Ref{Kind: "ConfigMap", Namespace: s.ns, Name: name}))
			}
			replaced := crud.CreateOrUpdate(&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "immutable", Labels: it}, Data: map[string]string{"value": "2"}, Immutable: new(true),
			})
			replaced.OnImmutable = crud.Recreate
			run.Add(replaced)
			return nil
		}), j
}

func TestOwnWrites_HookDeletesWhatItWatches_DoesNotRunAgain(t *testing.T) {
	s := newScene(t)
	s.create("deleted", "1", it)
	s.create("held", "1", it)
	s.patch("held", `{"metadata": {"finalizers": ["`+finalizer+`"]}}`)
	s.create("immutable", "1", it)
	s.patch("immutable", `{"immutable": true}`)
	h, j := s.deletes(hook.Settings{}, "deleted", "held")
	s.start(s.quick(), h)
	runs := []string{"kubernetes Synchronization deleted=1 held=1 immutable=1"}
	await := func(next string) {
		t.Helper()
		runs = append(runs, next)
		j.await(t, runs...)
	}
	j.await(t, runs...)
	s.awaitData("immutable", "value", "2")
	// The event of an object that another client writes shows that those before it have passed.
	s.create("first", "1", it)
	await("kubernetes EventAdded first=1")
	s.patch("held", `{"data": {"value": "2"}}`)
	await("kubernetes EventModified held=2")
	s.patch("held", `{"metadata": {"finalizers": null}}`)
	s.create("second", "1", it)
	await("kubernetes EventAdded second=1")
	s.delete("second")
	await("kubernetes EventDeleted second=1")
	s.create("deleted", "2", it)
	await("kubernetes EventAdded deleted=2")
	s.delete("deleted")
	await("kubernetes EventDeleted deleted=2")
}

func TestOwnWrites_RunOnOwnWrites_DeliversDeletions(t *testing.T) {
	s := newScene(t)
	s.create("deleted", "1", it)
	s.create("immutable", "2", it)
	s.patch("immutable", `{"immutable": true}`)
	h, j := s.deletes(hook.Settings{RunOnOwnWrites: true}, "deleted")
	s.start(s.quick(), h)
	j.await(t, "kubernetes Synchronization deleted=1 immutable=2", "kubernetes EventDeleted deleted=1")
}
