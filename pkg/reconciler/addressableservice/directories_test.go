/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

const formerDirectory = "former"

// claimed makes a Service in another namespace claim to be an alias.
func claimed(s *corev1.Service) { s.Namespace = "tenant" }

func TestAlias_ClaimedOutsideOfTheDirectory_CostsNoRequest(t *testing.T) {
	for name, objs := range map[string][]runtime.Object{
		"published":     {object("a", asAl, isPublished), alias("al", "a", host, stored)},
		"not published": {object("a", status(resolved, notRequested))},
		"never existed": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, testConfig(), append(objs, theTarget, dir, alias("al", "a", host, stored, claimed))...)
			if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
				t.Fatal(err)
			}
			if actions := slices.Concat(w.kube.Actions(), w.samples.Actions()); len(actions) > 0 {
				t.Errorf("the API server received requests: %v", actions)
			}
		})
	}
	w := newWorld(t, testConfig(), object("a", asAl, isPublished, beingDeleted), dir, alias("al", "a", host, stored, claimed))
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Fatal(err)
	}
	if got := w.aliases(t); !slices.Equal(got, []string{"tenant/al"}) {
		t.Errorf("after the object's deletion the aliases are %q, want that of the tenant", got)
	}
}

// aliases returns the Services of type ExternalName that the API server has, as namespace/name.
func (w *world) aliases(t *testing.T) []string {
	t.Helper()
	services, err := w.kube.CoreV1().Services(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var aliases []string
	for _, s := range services.Items {
		if s.Spec.Type == corev1.ServiceTypeExternalName {
			aliases = append(aliases, s.Namespace+"/"+s.Name)
		}
	}
	slices.Sort(aliases)
	return aliases
}

// converge reconciles until a reconciliation writes nothing. Errors are those of induced failures.
func (w *world) converge(t *testing.T) {
	t.Helper()
	for range 10 {
		w.kube.ClearActions()
		w.samples.ClearActions()
		err := w.reconciler.Reconcile(t.Context(), ns+"/a")
		w.catchUp(t)
		if err == nil && len(w.writes()) == 0 {
			return
		}
	}
}

// The process ends after any of its writes, the directory moves while none runs, and another process starts.
func TestDirectory_MovesWhileNoProcessRuns_NoAliasIsLeft(t *testing.T) {
	former := testConfig(func(c *config.Addressable) { c.DirectoryNamespace = formerDirectory })
	for name, tc := range map[string]struct {
		change mod
		want   []string
	}{
		"the alias is still requested":     {func(*v1.AddressableService) {}, []string{directory + "/al"}},
		"the alias is no longer requested": {func(as *v1.AddressableService) { as.Spec.Publish = nil }, nil},
		"the object is deleted":            {beingDeleted, nil},
	} {
		for limit := range 6 {
			t.Run(fmt.Sprintf("%s, after %d writes", name, limit), func(t *testing.T) {
				before := newWorld(t, former, object("a", asAl, recorded()), theTarget, dir, namespace(formerDirectory))
				writes := 0
				dies := func(action clientgotesting.Action) (bool, runtime.Object, error) {
					if slices.Contains([]string{"get", "list", "watch"}, action.GetVerb()) {
						return false, nil, nil
					}
					writes++
					return writes > limit, nil, reconcilertest.ErrInduced
				}
				before.kube.PrependReactor("*", "*", dies)
				before.samples.PrependReactor("*", "*", dies)
				before.converge(t)

				as := before.catchUp(t)
				tc.change(as)
				objs := []runtime.Object{as, dir, namespace(formerDirectory)}
				for _, s := range before.services.List() {
					objs = append(objs, s.(*corev1.Service))
				}
				after := newWorld(t, testConfig(), objs...)
				after.converge(t)
				if got := after.aliases(t); !slices.Equal(got, tc.want) {
					t.Errorf("the aliases are %q, want %q", got, tc.want)
				}
			})
		}
	}
}

func TestDirectory_Moved_FormerOneIsForgottenOnceItIsEmpty(t *testing.T) {
	w := newWorld(t, testConfig(), object("a", asAl, isPublished, recorded(directory, formerDirectory)), theTarget, dir, alias("al", "a", host, stored), alias("al", "a", host, stored, func(s *corev1.Service) { s.Namespace = formerDirectory }))
	// The cache lacks the former alias.
	if err := w.services.Delete(alias("al", "a", host, func(s *corev1.Service) { s.Namespace = formerDirectory })); err != nil {
		t.Fatal(err)
	}
	remove := reconcilertest.Failing("delete", "services", reconcilertest.ErrInduced)
	fails := true
	w.kube.PrependReactor("delete", "services", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if !fails {
			return false, nil, nil
		}
		return remove(action)
	})
	recorded := func() []string {
		err := w.reconciler.Reconcile(t.Context(), ns+"/a")
		if (err != nil) != fails {
			t.Errorf("the result is %v, want an error: %t", err, fails)
		}
		return w.catchUp(t).Status.Directories()
	}
	if got := recorded(); !slices.Equal(got, []string{directory, formerDirectory}) {
		t.Errorf("after a failed deletion the recorded directories are %q", got)
	}
	fails = false
	if got := recorded(); !slices.Equal(got, []string{directory}) {
		t.Errorf("after the deletion the recorded directories are %q", got)
	}
	if got := w.aliases(t); !slices.Equal(got, []string{directory + "/al"}) {
		t.Errorf("the aliases are %q", got)
	}
}

// A leader whose cache is stale writes its status over the newer one, and so drops a directory. A process that knows the directory deletes the alias there.
func TestDirectory_DroppedByAStaleLeader_NoAliasIsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		change mod
		want   []string
	}{
		"the alias is still requested":     {func(*v1.AddressableService) {}, []string{directory + "/al"}},
		"the alias is no longer requested": {func(as *v1.AddressableService) { as.Spec.Publish = nil }, nil},
		"the object is deleted":            {beingDeleted, nil},
	} {
		t.Run(name, func(t *testing.T) {
			stale := newWorld(t, testConfig(func(c *config.Addressable) { c.DirectoryNamespace = "oldest" }),
				object("a", asAl, recorded("oldest")), theTarget, namespace("oldest"))
			if err := stale.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
				t.Fatal(err)
			}
			dropped := stale.catchUp(t)
			if got := dropped.Status.Directories(); slices.Contains(got, formerDirectory) {
				t.Fatalf("the stale leader records %q", got)
			}
			tc.change(dropped)
			w := newWorld(t, testConfig(), dropped, theTarget, dir, namespace("oldest"), namespace(formerDirectory),
				alias("al", "a", host, stored, func(s *corev1.Service) { s.Namespace = formerDirectory }))
			w.directories = append(w.directories, formerDirectory)
			w.converge(t)
			if got := w.aliases(t); !slices.Equal(got, tc.want) {
				t.Errorf("the aliases are %q, want %q", got, tc.want)
			}
		})
	}
}

// A leader whose cache is stale publishes the alias of an object that another leader has finalized.
func TestAlias_PublishedAfterItsOwnerWasFinalized_IsDeleted(t *testing.T) {
	former := alias("al", "a", host, stored, func(s *corev1.Service) { s.Namespace = formerDirectory })
	w := newWorld(t, testConfig(), dir, alias("al", "a", host, stored), former, alias("other", "b", host, stored), alias("al", "a", host, stored, claimed))
	w.directories = append(w.directories, formerDirectory)
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Fatal(err)
	}
	if got := w.aliases(t); !slices.Equal(got, []string{directory + "/other", "tenant/al"}) {
		t.Errorf("the aliases are %q, want those of other owners", got)
	}
}

// The cache of a process that leads, too, may lack an owner that the leader knows.
func TestAlias_OwnerIsNotInTheCacheYet_Stays(t *testing.T) {
	w := newWorld(t, testConfig(), dir, alias("al", "a", host, stored))
	if err := w.samples.Tracker().Add(object("a")); err != nil {
		t.Fatal(err)
	}
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Fatal(err)
	}
	if got := w.aliases(t); !slices.Equal(got, []string{directory + "/al"}) {
		t.Errorf("the aliases are %q, want that of the owner", got)
	}
	w.samples.PrependReactor("get", "addressableservices", reconcilertest.Failing("get", "*", reconcilertest.ErrInduced))
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); !errors.Is(err, reconcilertest.ErrInduced) || len(w.aliases(t)) != 1 {
		t.Errorf("after a failed read the error is %v, and the aliases are %q", err, w.aliases(t))
	}
}
