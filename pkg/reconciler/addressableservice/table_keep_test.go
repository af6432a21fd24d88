/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/apis"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/failures"
	"github.com/mallard-dev/mallard/test/reconcilertest"
)

const (
	duckURL  = "http://d.example.com"
	duckHost = "d.example.com"
)

// lookupFailures are the ways in which a target cannot be looked up. None of them says anything about the target.
var lookupFailures = map[string]struct {
	reason, message string
	err             error
}{
	"forbidden": {
		v1.ReasonTargetForbidden,
		"ducks.example.com is forbidden: not granted; grant get, list and watch in a ClusterRole labeled duck.knative.dev/addressable=true",
		apierrors.NewForbidden(ducks.GroupResource(), "", errors.New("not granted")),
	},
	"server error": {
		v1.ReasonTargetUnavailable, "failed to list or watch ducks.example.com: Internal error occurred: induced", apierrors.NewInternalError(reconcilertest.ErrInduced),
	},
	"timeout": {
		v1.ReasonTargetUnavailable, "failed to list or watch ducks.example.com: Timeout: induced", apierrors.NewTimeoutError("induced", 1),
	},
}

func TestTarget_LookupFails_AddressAndAliasAreKept(t *testing.T) {
	known := status(at(duckURL), published)
	for name, tc := range lookupFailures {
		t.Run(name, func(t *testing.T) {
			induced := []clientgotesting.ReactionFunc{reconcilertest.Failing("list", "ducks", tc.err)}
			kept := status(at(duckURL), unknown(tc.reason, tc.message), published)
			table := reconcilertesting.TableTest{{
				Name:              "known address",
				Objects:           []runtime.Object{object("a", toDuck, asAl, known), dir, alias("al", "a", duckHost, stored)},
				WithReactors:      induced,
				WantStatusUpdates: reconcilertest.Becomes(object("a", toDuck, asAl, kept)),
			}, {
				Name:         "in the steady state",
				Objects:      []runtime.Object{object("a", toDuck, asAl, kept), dir, alias("al", "a", duckHost, stored)},
				WithReactors: induced,
			}, {
				Name: "new generation: the last known address stays nevertheless",
				Objects: []runtime.Object{
					object("a", toDuck, asAl, withPath("/new"), known, generation(2)), dir, alias("al", "a", duckHost, stored),
				},
				WithReactors:      induced,
				WantStatusUpdates: reconcilertest.Becomes(object("a", toDuck, asAl, withPath("/new"), generation(2), kept)),
			}, {
				Name:              "no known address",
				Objects:           []runtime.Object{object("a", toDuck, asAl), dir},
				WithReactors:      induced,
				WantStatusUpdates: reconcilertest.Becomes(object("a", toDuck, asAl, status(unknown(tc.reason, tc.message), noAddress))),
			}, {
				Name:              "no known address, but an alias",
				Objects:           []runtime.Object{object("a", toDuck, asAl), dir, alias("al", "a", duckHost, stored)},
				WithReactors:      induced,
				WantStatusUpdates: reconcilertest.Becomes(object("a", toDuck, asAl, status(unknown(tc.reason, tc.message), noAddress))),
			}}
			for i := range table {
				table[i].WantErr, table[i].PostConditions = true, withError(tc.err.Error())
				if apierrors.IsForbidden(tc.err) {
					table[i].PostConditions = withRecheck(failures.RetryDelay)
				}
			}
			runTable(t, table)
		})
	}
}

// Whatever becomes of the address, the alias is deleted only once it is no longer requested.
func TestAlias_StillRequested_IsKept(t *testing.T) {
	across := withRef("v1", "Service", "other", "target")
	const denied = `spec.ref.namespace "other" is not this object's; set allow-cross-namespace-references in ConfigMap config-addressable to allow it where all namespaces are watched`
	const address = `an ExternalName Service cannot point to host "10.0.0.1", which is no DNS name`
	row := func(name string, ref mod, reason, message string, objs ...runtime.Object) reconcilertesting.TableRow {
		return reconcilertesting.TableRow{
			Name:              name,
			Objects:           append([]runtime.Object{object("a", asAl, ref, isPublished), dir, alias("al", "a", host, stored)}, objs...),
			WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, ref, status(unresolved(reason, message), noAddress))),
			WantEvents:        []string{reconcilertest.Warning(reason, message)},
		}
	}
	unknownKind := row("kind no longer served", toDuck, v1.ReasonTargetKindNotFound, "the cluster does not serve kind Duck at example.com/v1")
	unknownKind.WithReactors = []clientgotesting.ReactionFunc{unserved()}
	unknownKind.WantErr = true
	runTable(t, reconcilertesting.TableTest{
		unknownKind,
		row("target deleted", withRef("v1", "Service", "", "target"), v1.ReasonTargetNotFound, "Service target does not exist"),
		row("reference no longer allowed", across, v1.ReasonCrossNamespaceDenied, denied),
		row("target without an address", toDuck, v1.ReasonTargetHasNoAddress, "Duck.example.com d has no status.address.url",
			aDuck(ns, "d", map[string]any{})),
		row("cycle", refTo("a"), v1.ReasonReferenceCycle, "the references form a cycle: ns/a -> ns/a"),
		{
			Name: "host that an alias cannot point to",
			Objects: []runtime.Object{
				object("a", asAl, toDuck, isPublished), dir, alias("al", "a", host, stored), aDuck(ns, "d", addressStatus("http://10.0.0.1")),
			},
			WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, toDuck, status(at("http://10.0.0.1"), unpublished(v1.ReasonHostNotPublishable, address)))),
			WantEvents:        []string{reconcilertest.Warning(v1.ReasonHostNotPublishable, address)},
		},
	})
}

func TestAlias_NewNameCannotBePublished_FormerStays(t *testing.T) {
	const taken = `Service dir/al exists and belongs to ns/b`
	const noNamespace = `the directory namespace "moved" does not exist; it is directory-namespace in ConfigMap config-addressable`
	runTable(t, reconcilertesting.TableTest{{
		Name: "taken",
		Objects: []runtime.Object{
			object("a", asAl, isPublished), theTarget, dir, alias("old", "a", host, stored), alias("al", "b", host, stored),
		},
		WantStatusUpdates: notPublished(v1.ReasonAliasTaken, taken),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonAliasTaken, taken)},
	}, {
		Name:              "directory moved to a namespace that does not exist",
		Objects:           []runtime.Object{object("a", asAl, recorded(directory, "moved"), isPublished), theTarget, alias("al", "a", host, stored)},
		OtherTestData:     map[string]any{configData: testConfig(func(c *config.Addressable) { c.DirectoryNamespace = "moved" })},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, recorded(directory, "moved"), status(resolved, unpublished(v1.ReasonDirectoryNotFound, noNamespace)))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonDirectoryNotFound, noNamespace)},
	}, {
		Name:              "no address",
		Objects:           []runtime.Object{object("a", asAl, isPublished), dir, alias("old", "a", host, stored)},
		WantStatusUpdates: reconcilertest.Becomes(object("a", asAl, status(unresolved(v1.ReasonTargetNotFound, "Service target does not exist"), noAddress))),
		WantEvents:        []string{reconcilertest.Warning(v1.ReasonTargetNotFound, "Service target does not exist")},
	}})
}

func TestAlias_OfAFormerObjectOfTheName_IsRemovedIfNotRequested(t *testing.T) {
	former := alias("al", "a", host, stored, label("samples.knative.dev/addressableservice-uid", "former"))
	runTable(t, reconcilertesting.TableTest{{
		Name:              "re-created without publish",
		Objects:           []runtime.Object{object("a"), theTarget, dir, former},
		WantDeletes:       deletes("al"),
		WantStatusUpdates: reconcilertest.Becomes(object("a", status(resolved, notRequested))),
	}})
}

// The event of the other write enqueues the object, and the cache then has the alias as it is.
func TestAlias_WriteFindsAStaleCache_ConditionStaysUntilTheRetry(t *testing.T) {
	services := corev1.Resource("services")
	row := func(name, verb string, err error, known *corev1.Service) reconcilertesting.TableRow {
		r := reconcilertesting.TableRow{
			Name:         name,
			Objects:      []runtime.Object{object("a", asAl, isPublished), theTarget, dir},
			WithReactors: []clientgotesting.ReactionFunc{reconcilertest.Failing(verb, "services", err)},
			WantErr:      true, PostConditions: withError("publishing alias dir/al: ", err.Error()),
		}
		if known != nil {
			r.Objects, r.WantUpdates = append(r.Objects, known), aliasBecomes(alias("al", "a", host, stored))
		} else {
			r.WantCreates = []runtime.Object{alias("al", "a", host)}
		}
		return r
	}
	elsewhere := alias("al", "a", "elsewhere.example.com", stored)
	runTable(t, reconcilertesting.TableTest{
		row("changed concurrently", "update", apierrors.NewConflict(services, "al", errors.New("changed")), elsewhere),
		row("deleted concurrently", "update", apierrors.NewNotFound(services, "al"), elsewhere),
		row("created concurrently", "create", apierrors.NewAlreadyExists(services, "al"), nil),
		row("directory deleted concurrently", "create", apierrors.NewNotFound(corev1.Resource("namespaces"), directory), nil),
	})
}

func TestNamespaceIsTerminating_TargetIsDeleted_NoStatusUpdate(t *testing.T) {
	runTable(t, reconcilertesting.TableTest{{
		Name:    "target deleted",
		Objects: []runtime.Object{object("a", asAl, isPublished), namespace(ns, terminating), dir, alias("al", "a", host, stored)},
	}})
}

func TestFinalize_OurFinalizerIsGone_NothingIsAsked(t *testing.T) {
	w := newWorld(t, testConfig(), object("a", asAl, isPublished, beingDeleted, func(as *v1.AddressableService) { as.Finalizers = []string{"another"} }))
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Error(err)
	}
	if actions := w.kube.Actions(); len(actions) > 0 {
		t.Errorf("the API server received requests: %v", actions)
	}
}

func TestTarget_ListHasNotCompleted_StatusIsKept(t *testing.T) {
	errNotSynced := errors.New("the first list has not completed yet")
	known := status(at(duckURL), published)
	notSynced := unknown(v1.ReasonTargetUnavailable, "failed to list or watch ducks.example.com: the first list has not completed yet")
	for name, tc := range map[string]struct{ as, want *v1.AddressableService }{
		"known address": {
			object("a", toDuck, asAl, known),
			object("a", toDuck, asAl, known),
		},
		"known to have no address": {
			object("a", toDuck, asAl, status(unresolved(v1.ReasonTargetNotFound, "gone"), noAddress)),
			object("a", toDuck, asAl, status(unresolved(v1.ReasonTargetNotFound, "gone"), noAddress)),
		},
		"new generation": {
			object("a", toDuck, asAl, known, generation(2)),
			object("a", toDuck, asAl, generation(2), status(at(duckURL), notSynced, published)),
		},
		"new object": {
			object("a", toDuck, asAl),
			object("a", toDuck, asAl, status(notSynced, noAddress)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, testConfig(), tc.as, dir, alias("al", "a", duckHost, stored))
			w.dynamic.PrependReactor("list", "ducks", reconcilertest.Failing("list", "ducks", errNotSynced))
			if missing := reconcilertest.Retried(w.reconciler.Reconcile(t.Context(), ns+"/a"), errNotSynced.Error()); missing != "" {
				t.Errorf("the result is not %s", missing)
			}
			got := w.catchUp(t)
			if diff := cmp.Diff(tc.want.Status, got.Status, cmpopts.IgnoreTypes(apis.VolatileTime{})); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
			if alias := w.cachedAlias(t); alias.Spec.ExternalName != duckHost {
				t.Errorf("the alias points to %q", alias.Spec.ExternalName)
			}
		})
	}
}

func (w *world) cachedAlias(t *testing.T) *corev1.Service {
	t.Helper()
	alias, err := w.inner.services.Services(directory).Get("al")
	if err != nil {
		t.Fatal(err)
	}
	return alias
}
